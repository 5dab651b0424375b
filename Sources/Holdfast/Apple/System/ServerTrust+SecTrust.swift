#if canImport(Security)
public import Security

extension ServerTrust {
    /// What a connection of the system presented, for the system to validate.
    ///
    /// Nothing is asked of the system yet. A decision evaluates the trust once, with its own policy, time and anchors,
    /// and sets again what the application had set. There are two things that the system has no call for: if the
    /// application had added anchors to the system's, the system's no longer count; a trust without a date keeps that
    /// of its first evaluation.
    /// - Parameters:
    ///   - secTrust: the trust that the connection handed out; do not evaluate it while a decision does.
    ///   - host: the host that was dialed; nil where it is not known, which only a policy for one exact name accepts.
    ///   - anchors: what is trusted to begin with, and nothing else; nil for what the trust says, by default what the
    ///     system trusts.
    ///   - revocation: whether the system is asked to check revocation.
    public init(
        _ secTrust: SecTrust, host: DialedHost?, anchors: TrustAnchors? = nil, revocation: SystemRevocation = .system
    ) {
        self.init(SystemTrust(secTrust), host: host, anchors: anchors, revocation: revocation)
    }

    package init(
        _ trust: SystemTrust, host: DialedHost?, anchors: TrustAnchors? = nil, revocation: SystemRevocation = .system
    ) {
        self.init(
            purpose: .server(identity: host),
            evaluatedBy: SystemChainValidator(trust, of: host, anchors: anchors, revocation: revocation))
    }

    /// The system's trust: the one that this was made from, otherwise one made from the chain; nil when the system
    /// cannot read a certificate of it.
    public var secTrust: SecTrust? { handedOut ?? SystemTrust(chain, for: purpose)?.secTrust }
}
#endif
