import Testing

@testable import Holdfast

extension PinnedPolicy {
    /// Fixed pins; none for a policy that follows something else.
    var fixedPins: [Pin] { (source as? PinSet)?.pins ?? [] }

    /// The store that the policy follows.
    func trustServerStore() throws -> TrustServerStore { try #require(source as? TrustServerStore) }
}
