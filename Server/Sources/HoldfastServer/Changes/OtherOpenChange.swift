/// Another change of an app that people can still publish. Once one of them is published, the others lapse.
package struct OtherOpenChange: Sendable, Hashable {
    /// The change.
    package let id: RandomID
    /// Whether it waits for approvals, or to be published.
    package let state: Change.State
    /// When it was proposed, in seconds since 1970.
    package let proposed: Int64
    /// Why it was proposed.
    package let reason: String

    /// The advice to people who see several.
    package static let advice = "Publish one of them only: the others lapse then. Reject the others."
}
