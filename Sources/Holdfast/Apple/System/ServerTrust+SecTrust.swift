#if canImport(Security)
public import Security

extension ServerTrust {
    /// Makes a trust of the evidence that a connection of the system presented, for the system to validate.
    ///
    /// The system evaluates nothing yet. A decision evaluates the trust once, with its own policy, time and anchors,
    /// and then restores the settings of the application. Two things cannot be restored, because the system has no call
    /// for them: if the application had added anchors to the system's, the system's no longer count; a trust without a
    /// date keeps the date of its first evaluation.
    /// - Parameters:
    ///   - secTrust: the trust that the connection provided; do not evaluate it while a decision does.
    ///   - host: the host that was dialed; nil if it is not known, which only a policy for one exact name accepts.
    ///   - anchors: the only anchors; nil for those that are set on the trust, by default those of the system.
    ///   - revocation: whether the system checks revocation.
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

    /// The system's trust: the one from which this was made, otherwise a new one made from the chain; nil if the system
    /// cannot read one of its certificates.
    public var secTrust: SecTrust? { handedOut ?? SystemTrust(chain, for: purpose)?.secTrust }
}
#endif
