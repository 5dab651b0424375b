/// What became of a connection that is reported.
public enum ReportOutcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// It was refused.
    case rejected
    /// It was let in: the host is in report mode, expired pins gave way to standard validation, or only a candidate did
    /// not match.
    case accepted
}
