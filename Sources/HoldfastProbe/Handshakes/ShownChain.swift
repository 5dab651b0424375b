public import Holdfast

/// The chain that a server presented in one handshake, and the policy's decision about it.
public struct ShownChain: Sendable {
    /// The policy's decision, with the chain as it was presented and the time.
    public let decision: TrustDecision
    /// The version that the server chose, as people write it (`TLS 1.3`); nil if the handshake ended before the version
    /// was known.
    public let tlsVersion: String?
    /// Whether a trusted server requested the client's certificate; nil for an untrusted server, because the client
    /// ends that handshake before it would present one.
    public let asksForClientCertificate: Bool?

    /// Makes a description of the chain that a server presented. Probes call this.
    public init(decision: TrustDecision, tlsVersion: String?, asksForClientCertificate: Bool?) {
        self.decision = decision
        self.tlsVersion = tlsVersion
        self.asksForClientCertificate = asksForClientCertificate
    }

    /// The total size of the presented certificates, in bytes.
    var chainBytes: Int { decision.chain?.certificates.reduce(0) { $0 + $1.count } ?? 0 }

    /// The server's own certificate, as it was presented.
    var leaf: X509Certificate? { decision.chain?.leaf.flatMap { try? X509Certificate(der: $0) } }
}
