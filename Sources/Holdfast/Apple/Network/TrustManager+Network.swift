#if canImport(Network) && canImport(Security)
public import Network
public import Security

extension TrustManager {
    /// Lets this manager's policies evaluate the server of a Network.framework connection.
    ///
    /// It sets the verification block, the server's name and TLS 1.2 as the lowest version, requires server
    /// authentication, and turns resumption off, because the system does not call the block for a resumed session. If
    /// the block rejects, the connection fails with `errSSLBadCert` or a similar TLS status; the manager's observers
    /// get the reason.
    /// - Parameters:
    ///   - options: the security options of a `NWProtocolTLS.Options`.
    ///   - host: the host that is dialed; the endpoint of the connection must be the same.
    ///   - anchors: the only anchors that are trusted; nil for those of the system.
    ///   - revocation: whether the system checks revocation.
    public func protect(
        _ options: sec_protocol_options_t, dialing host: DialedHost, anchors: TrustAnchors? = nil,
        revocation: SystemRevocation = .system
    ) {
        let isTrusted = certificateValidator(dialing: host, anchors: anchors, revocation: revocation)
        sec_protocol_options_set_min_tls_protocol_version(options, .TLSv12)
        sec_protocol_options_set_tls_resumption_enabled(options, false)
        // If the application had turned it off, the block would not be called.
        sec_protocol_options_set_peer_authentication_required(options, true)
        if let name = host.serverNameIndication { unsafe sec_protocol_options_set_tls_server_name(options, name) }
        sec_protocol_options_set_verify_block(
            options,
            { metadata, trust, complete in
                let handedOut = SharedReference((metadata: metadata, trust: trust, complete: complete))
                Task {
                    let handedOut = handedOut.get
                    handedOut.complete(await isTrusted(handedOut.metadata, handedOut.trust))
                }
            }, EvaluationQueue.queue)
    }

    /// A validator for the TLS of a `NetworkConnection`, which Apple's systems provide from version 26 on.
    ///
    /// ```swift
    /// let validator = manager.certificateValidator(dialing: host)
    /// let connection = NetworkConnection(to: endpoint) { TLS().certificateValidator(validator) }
    /// ```
    /// It sets nothing else. Require at least TLS 1.2, and turn resumption off: the system does not call the validator
    /// for a session that it resumes. ``protect(_:dialing:anchors:revocation:)`` does both for a `NWConnection`.
    /// - Parameters:
    ///   - host: the host that is dialed; the endpoint of the connection must be the same.
    ///   - anchors: the only anchors that are trusted; nil for those of the system.
    ///   - revocation: whether the system checks revocation.
    public func certificateValidator(
        dialing host: DialedHost, anchors: TrustAnchors? = nil, revocation: SystemRevocation = .system
    ) -> @Sendable (sec_protocol_metadata_t, sec_trust_t) async -> Bool {
        let judge = ManagerJudge(manager: self, anchors: anchors, revocation: revocation)
        return { _, trust in
            let trust = SystemTrust(unsafe sec_trust_copy_ref(trust).takeRetainedValue())
            return await judge.decision(for: trust, host: host).isTrusted
        }
    }
}

extension NWProtocolTLS.Options {
    /// Options that let a manager's policies evaluate the server; see
    /// ``TrustManager/protect(_:dialing:anchors:revocation:)``.
    public convenience init(pinnedBy manager: TrustManager, dialing host: DialedHost) {
        self.init()
        manager.protect(securityProtocolOptions, dialing: host)
    }
}
#endif
