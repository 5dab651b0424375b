/// The server's assessment of the application's version.
public struct VersionCheck: Sendable, Hashable {
    /// Whether the application should be updated.
    public enum Update: String, Sendable, Hashable, CaseIterable {
        /// `NOT_REQUIRED`: the version is good.
        case notRequired = "NOT_REQUIRED"
        /// `SUGGESTED`: a newer version is available.
        case suggested = "SUGGESTED"
        /// `FORCED`: the version is no longer supported.
        case forced = "FORCED"
    }

    /// Whether the application should be updated.
    public let update: Update
    /// The message for the user, in the user's language; nil if the server sends none.
    public let message: String?

    /// Makes an assessment.
    public init(update: Update, message: String? = nil) {
        self.update = update
        self.message = message
    }
}
