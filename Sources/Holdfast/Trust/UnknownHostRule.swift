/// What a ``TrustManager`` decides about a host that it has no policy for.
public enum UnknownHostRule: String, Sendable, Hashable, CaseIterable {
    /// Rejects it with `noPolicyForHost`.
    case reject
    /// Standard validation decides.
    case standardValidation
}
