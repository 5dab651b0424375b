/// The decision of a ``TrustManager`` about a host for which it has no policy.
public enum UnknownHostRule: String, Sendable, Hashable, CaseIterable {
    /// Rejects it with `noPolicyForHost`.
    case reject
    /// Standard validation decides.
    case standardValidation
}
