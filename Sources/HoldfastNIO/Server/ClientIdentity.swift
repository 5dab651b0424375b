public import Holdfast

/// Who a client of a ``PinnedTLSServer`` is: what its handshake proved and its policy accepted.
///
/// Made only for a client that is trusted. What the names in the certificate mean is the application's matter; that the
/// certificate is the client's own is not in doubt.
public struct ClientIdentity: Sendable, Hashable {
    /// The client's certificate, whose key it holds.
    public let leaf: X509Certificate
    /// The validated path from it to an anchor; nil under a policy that validates none, such as pins alone.
    public let path: ValidatedPath?
    /// The pins that were found; empty under a policy without pins.
    public let matchedPins: [Pin]
    /// The name of the policy that decided.
    public let policyName: String
    /// Whether the client resumed a session: it proved its key when that began, and was judged again now.
    public let isResumed: Bool

    init(_ decision: TrustDecision, chain: PresentedChain, isResumed: Bool) throws(CertificateError) {
        leaf = try X509Certificate(der: chain.leaf ?? [])
        path = decision.path
        matchedPins = decision.matchedPins
        policyName = decision.policyName
        self.isResumed = isResumed
    }
}
