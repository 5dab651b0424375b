/// The outcome of a reported connection.
public enum ReportOutcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// The connection was refused.
    case rejected
    /// The connection was accepted: the host is in report mode, standard validation replaced expired pins, or only a
    /// candidate did not match.
    case accepted
}
