public import Holdfast

/// The identity of a client of a ``PinnedTLSServer``: proved by its handshake and accepted by its policy.
///
/// It exists only for a trusted client. It proves that the certificate is the client's own. The application decides
/// what the names in it mean.
public struct ClientIdentity: Sendable, Hashable {
    /// The client's certificate, whose key it holds.
    public let leaf: X509Certificate
    /// The validated path from it to an anchor; nil if the policy validates none, as with pins alone.
    public let path: ValidatedPath?
    /// The pins that were found; empty if the policy has no pins.
    public let matchedPins: [Pin]
    /// The name of the policy that decided.
    public let policyName: String
    /// Whether the client resumed a session: it proved its key when that session began, and was evaluated again now.
    public let isResumed: Bool

    init(_ decision: TrustDecision, chain: PresentedChain, isResumed: Bool) throws(CertificateError) {
        leaf = try X509Certificate(der: chain.leaf ?? [])
        path = decision.path
        matchedPins = decision.matchedPins
        policyName = decision.policyName
        self.isResumed = isResumed
    }
}
