#if canImport(Security)
public import Security

extension ServerTrust {
    /// What a connection of the system's presented, to be validated by the system.
    ///
    /// It reads the trust's chain, for which the system may evaluate it: that can block. The policies of the trust are
    /// not changed by a decision; its date is set to the time of the decision.
    /// - Parameters:
    ///   - secTrust: the trust that the connection handed out; use it with one decision at a time.
    ///   - host: the host that was dialled; nil where it is not known, which only a policy for one exact name accepts.
    ///   - anchors: what is trusted to begin with, and nothing else; nil for what the trust says, by default what the
    ///     system trusts.
    public init(_ secTrust: SecTrust, host: DialledHost?, anchors: TrustAnchors? = nil) {
        self.init(SystemTrust(secTrust), host: host, anchors: anchors)
    }

    init(_ trust: SystemTrust, host: DialledHost?, anchors: TrustAnchors? = nil) {
        let chain = PresentedChain(trust.chain())
        self.init(
            chain: chain, purpose: .server(host),
            validator: SystemChainValidator(trust, of: chain, anchors: anchors))
    }

    /// The system's trust: the one that this was made from, otherwise one made from the chain; nil when the system
    /// cannot read a certificate of it.
    public var secTrust: SecTrust? {
        if let own = (validator as? SystemChainValidator)?.trust { return own.secTrust }
        let purpose: ValidationPurpose =
            switch self.purpose {
            case .server(let host): .server(identity: host)
            case .client: .client
            }
        return SystemTrust(chain, for: purpose)?.secTrust
    }
}
#endif
