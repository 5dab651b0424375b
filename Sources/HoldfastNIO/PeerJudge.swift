import Holdfast
import NIOSSL

/// Judges the peer of one connection, once, and remembers the decision. Lives on the connection's event loop.
final class PeerJudge {
    /// The decision, once it is made.
    private(set) var decision: TrustDecision?
    /// Whether the policy is being asked at this moment, from within BoringSSL.
    private(set) var isDeciding = false

    private let client: PinnedTLSClient

    init(client: PinnedTLSClient) {
        self.client = client
    }

    /// Why the peer was rejected; nil as long as it was not.
    var failure: TrustFailure? { decision?.failure }

    func judge(_ certificates: [NIOSSLCertificate]) -> NIOSSLVerificationResultWithMetadata {
        isDeciding = true
        defer { isDeciding = false }
        let chain = PresentedChain(certificates)
        let trust = ServerTrust(chain: chain, purpose: .server(client.host), validator: client.validator)
        let decision = client.trust.evaluate(trust, at: client.clock.now)
        self.decision = decision
        guard decision.isTrusted else { return .failed }
        return .certificateVerified(
            VerificationMetadata(
                decision.path.flatMap { client.chainMaker.chain(of: $0, presented: certificates, as: chain) }))
    }
}
