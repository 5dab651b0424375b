import Holdfast
import NIOCore
import NIOSSL

/// Evaluates the peer of one connection once, and remembers the decision. It belongs to the connection's event loop.
final class PeerJudge {
    /// The decision; nil until it is made.
    private(set) var decision: TrustDecision?
    /// Whether the policy is evaluating at this moment, called from BoringSSL or the gate.
    private(set) var isDeciding = false
    /// The identity of a client, once the handshake has proved it; nil for servers.
    private(set) var client: ClientIdentity?

    private let verification: PeerVerification
    private let sessions: ClientSessions?
    private var presented: PresentedChain?
    /// The source of the decision.
    private var source: TrustSource?

    /// - Parameter sessions: those of a server, whose client may resume one instead of presenting certificates.
    init(_ verification: PeerVerification, sessions: ClientSessions? = nil) {
        self.verification = verification
        self.sessions = sessions
    }

    /// The reason for the rejection; nil for a peer that was not rejected.
    var failure: TrustFailure? { decision?.failure }

    /// Whether the peer is a client.
    var isForClients: Bool { sessions != nil }

    /// Evaluates the peer and answers TLS, at once or when its policy has finished preparing.
    func judge(_ certificates: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResultWithMetadata>) {
        guard let policy = verification.policyToPrepare else { return promise.succeed(judge(certificates)) }
        let bound = NIOLoopBound(self, eventLoop: promise.futureResult.eventLoop)
        verification.prepare(policy, on: promise.futureResult.eventLoop) {
            promise.succeed(bound.value.judge(certificates))
        }
    }

    private func judge(_ certificates: [NIOSSLCertificate]) -> NIOSSLVerificationResultWithMetadata {
        let chain = PresentedChain(certificates)
        let decision = decide(chain)
        return verification.result(of: decision, about: chain, presented: certificates)
    }

    /// Call this when the handshake is complete, which proves the peer's key: only now is a decision to trust reported.
    /// TLS makes no callback for a resumed session, so its leaf is evaluated here by the current policy.
    func handshakeCompleted(by leaf: () -> NIOSSLCertificate?) {
        let isResumed = isForClients && decision == nil
        if isResumed, let sessions {
            // Without a leaf the client is unknown, so there is no decision.
            guard let leaf = leaf(), let der = try? leaf.toDERBytes() else { return }
            _ = decide(sessions.chain(of: der))
        }
        guard let judged = decision, judged.isTrusted, let presented else { return }
        let decision = judged.provedByHandshake
        self.decision = decision
        tell(decision)
        guard let sessions else { return }
        if !isResumed { sessions.remember(presented, trustedBy: decision) }
        client = try? ClientIdentity(decision, chain: presented, isResumed: isResumed)
    }

    /// Call this when the handshake failed: TLS itself rejects a client without a certificate, and a peer whose
    /// keyUsage forbids how the handshake uses its key.
    func handshakeFailed(_ error: any Error) {
        if isForClients, decision == nil, BoringSSLReason.isMissingCertificate(error) {
            _ = decide(PresentedChain([]))
        } else if failure == nil, BoringSSLReason.keyUsageRefusal(error) != nil {
            rejectForKeyUsage(error)
        }
    }

    /// With TLS 1.3, BoringSSL rejects the peer before its certificates are known; then the decision has no chain.
    private func rejectForKeyUsage(_ error: any Error) {
        isDeciding = true
        defer { isDeciding = false }
        // The decision supplies the name, the host and the time.
        let (judged, source): (TrustDecision, TrustSource)
        if let decision, let known = self.source {
            (judged, source) = (decision, known)
        } else {
            (judged, source) = verification.judgment(of: PresentedChain([]))
        }
        guard let failure = BoringSSLReason.keyUsageRefusal(error, host: judged.host, chain: presented) else { return }
        let rejected = TrustDecision(
            .rejected(failure), policyName: judged.policyName, host: judged.host, time: judged.time, chain: presented,
            configuredPins: judged.configuredPins, effort: judged.effort)
        decision = rejected
        verification.tell(rejected, by: source)
    }

    private func decide(_ chain: PresentedChain) -> TrustDecision {
        isDeciding = true
        defer { isDeciding = false }
        let (judged, source) = verification.judgment(of: chain)
        var decision = judged
        if isForClients, decision.isTrusted, let failure = Self.unidentified(chain) {
            decision = TrustDecision(
                .rejected(failure), policyName: decision.policyName, host: nil, time: decision.time, chain: chain,
                configuredPins: decision.configuredPins, notices: decision.notices, effort: decision.effort)
        }
        presented = chain
        self.decision = decision
        self.source = source
        // A rejection needs no proof: it ends the handshake.
        if !decision.isTrusted { verification.tell(decision, by: source) }
        return decision
    }

    private func tell(_ decision: TrustDecision) {
        guard let source else { return }
        isDeciding = true
        defer { isDeciding = false }
        verification.tell(decision, by: source)
    }

    /// A client must be identifiable, even for a policy that accepts everything.
    private static func unidentified(_ chain: PresentedChain) -> TrustFailure? {
        guard let leaf = chain.leaf else {
            return TrustFailure(.emptyChain, expected: "a client's certificate", found: "none", chain: chain)
        }
        do throws(CertificateError) {
            _ = try X509Certificate(der: leaf)
            return nil
        } catch {
            return TrustFailure(
                .unreadableCertificate, expected: "a client's certificate that can be read", found: error.found,
                chain: chain)
        }
    }
}
