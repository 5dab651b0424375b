package import ServerFoundation

/// Another change of an app that can still be published. When one of them is published, the others lapse.
package struct OtherOpenChange: Sendable, Hashable {
    /// The change.
    package let id: RandomID
    /// Whether it waits for approvals, or to be published.
    package let state: Change.State
    /// The time of the proposal, in seconds since 1970.
    package let proposed: Int64
    /// The reason for the proposal.
    package let reason: String

    package init(id: RandomID, state: Change.State, proposed: Int64, reason: String) {
        self.id = id
        self.state = state
        self.proposed = proposed
        self.reason = reason
    }

    /// The advice if several changes are open.
    package static let advice = "Publish one of them only: the others lapse then. Reject the others."
}
