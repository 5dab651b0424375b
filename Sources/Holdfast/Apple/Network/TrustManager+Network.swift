#if canImport(Network) && canImport(Security)
public import Network
public import Security

extension TrustManager {
    /// Has the server of a Network.framework connection judged by this manager's policies.
    ///
    /// It sets the verification block, the server's name, TLS 1.2 as the lowest version, requires the
    /// server's authentication, and switches resumption off: the block is not asked about a session that is resumed. Where the block rejects, the connection fails with
    /// `errSSLBadCert` or a like status of TLS; the manager's observers say why.
    /// - Parameters:
    ///   - options: the security options of a `NWProtocolTLS.Options`.
    ///   - host: the host that is dialled; the endpoint of the connection must be the same.
    ///   - anchors: what is trusted to begin with, and nothing else; nil for what the system trusts.
    ///   - revocation: whether the system is asked to check revocation.
    public func protect(
        _ options: sec_protocol_options_t, dialling host: DialledHost, anchors: TrustAnchors? = nil,
        revocation: SystemRevocation = .system
    ) {
        let judge = ManagerJudge(manager: self, anchors: anchors, revocation: revocation)
        sec_protocol_options_set_min_tls_protocol_version(options, .TLSv12)
        sec_protocol_options_set_tls_resumption_enabled(options, false)
        // Where the application had switched it off, the block would not be asked.
        sec_protocol_options_set_peer_authentication_required(options, true)
        if let name = host.serverNameIndication { unsafe sec_protocol_options_set_tls_server_name(options, name) }
        sec_protocol_options_set_verify_block(
            options,
            { _, trust, complete in
                let trust = SystemTrust(unsafe sec_trust_copy_ref(trust).takeRetainedValue())
                let complete = SharedReference(complete)
                Task {
                    let decision = await judge.decision(for: trust, host: host)
                    complete.get(decision.isTrusted)
                }
            }, EvaluationQueue.queue)
    }
}

extension NWProtocolTLS.Options {
    /// Options whose server is judged by a manager's policies; see ``TrustManager/protect(_:dialling:anchors:revocation:)``.
    public convenience init(pinnedBy manager: TrustManager, dialling host: DialledHost) {
        self.init()
        manager.protect(securityProtocolOptions, dialling: host)
    }
}
#endif
