public import Holdfast

/// What a server showed in one handshake, and what the policy decided about it.
public struct ShownChain: Sendable {
    /// The policy's decision, with the chain as it was presented and the time.
    public let decision: TrustDecision
    /// The version that the server chose, as people write it (`TLS 1.3`); nil if the handshake ended before it was
    /// known.
    public let tlsVersion: String?
    /// Whether a trusted server asked for the client's certificate; nil for an untrusted one, because the client ends
    /// that handshake before it would present one.
    public let asksForClientCertificate: Bool?

    /// Describes what a server showed; a probe makes these.
    public init(decision: TrustDecision, tlsVersion: String?, asksForClientCertificate: Bool?) {
        self.decision = decision
        self.tlsVersion = tlsVersion
        self.asksForClientCertificate = asksForClientCertificate
    }

    /// The size of all certificates that were presented, in bytes.
    var chainBytes: Int { decision.chain?.certificates.reduce(0) { $0 + $1.count } ?? 0 }

    /// The server's own certificate, as it was presented.
    var leaf: X509Certificate? { decision.chain?.leaf.flatMap { try? X509Certificate(der: $0) } }
}
