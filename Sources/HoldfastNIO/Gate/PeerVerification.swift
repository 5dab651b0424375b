public import Holdfast
public import NIOCore
public import NIOSSL

/// Holdfast's decision as a function of NIOSSL's certificates: the callbacks for servers and clients of other projects,
/// which build their own pipelines.
///
/// ```swift
/// // Hummingbird, mutual TLS
/// let verification = PeerVerification(clients: policy, validator: PathValidator(anchors: anchors))
/// let configuration = TLSChannelConfiguration(
///     tlsConfiguration: try PeerVerification.serverConfiguration(from: tlsConfiguration),
///     customVerificationCallback: verification.callback)
///
/// // gRPC's server over NIO: .mTLS(…), and in its `configure`
/// $0.customVerificationCallback = verification.callbackWithMetadata
///
/// // gRPC's client over NIO: one verification for one host
/// $0.customVerificationCallback = PeerVerification(
///     trust: .policy(policy), host: try DialedHost("www.example.com"), validator: validator).callbackWithMetadata
/// ```
///
/// The limits of a callback, compared to ``PinnedTLSClient`` and ``PinnedTLSServer``:
/// - **It does not know the host.** A client's host is given here, once. If one client connects to several hosts, or
///   follows a service name to other hosts, it needs a verification for each. Only the policy's own check of the host
///   is reliable: leave the framework at `.noHostnameVerification` if it offers that, because NIOSSL's own check uses
///   the socket's IP address as the host.
/// - **It does not run when a session is resumed.** A server's TLS remembers a client that was trusted once: for hours
///   with TLS 1.2 and up to days with TLS 1.3 it is accepted again, even if the policy or the pins have changed or the
///   certificate has expired. To shut it out, restart the server or give it a new TLS context; or use
///   ``PinnedTLSServer`` in place of the framework's TLS; docs/services.md has the lines for Hummingbird. In gRPC a
///   resumed session has a `peerCertificateChain` of nil: if your policy validates paths, refuse calls without one.
///   (NIOSSL's clients never resume.)
/// - **It decides before the handshake has proved the peer's key.** A peer that replays a trusted chain without its key
///   is reported as trusted, and then fails the handshake. `onDecision` and a manager's observers can detect it
///   (`TrustDecision.hasProofOfPossession` is false): log no user in because of such a decision. Take the peer's
///   certificate from the connection once its handshake is complete.
/// - **It runs only if the framework's configuration verifies.** With `.none` its rejection is ignored, and with
///   `.optionalVerification` a client without a certificate is accepted without a callback; see
///   ``serverConfiguration(from:oldestTLSVersion:)``.
/// - **Its reason is lost.** NIOSSL reports only `CERTIFICATE_VERIFY_FAILED`; `onDecision` gets the reason.
///
/// With TLS 1.3 a client learns of its own rejection only on its first read.
public struct PeerVerification: Sendable {
    /// Read at every step, so that a replaced policy is never used.
    private let trust: @Sendable () -> TrustSource
    let purpose: ValidationPurpose
    let validator: any ChainValidator
    let clock: any WallClock
    private let onDecision: @Sendable (TrustDecision) -> Void
    private let chainMaker = ValidatedChainMaker()

    /// Evaluates the clients of a server (mutual TLS). The content of a client's certificate never selects the policy.
    ///
    /// - Parameters:
    ///   - policy: evaluates every client, as a peer without a host.
    ///   - validator: validates chains, as a rule a `PathValidator` with the anchors of clients.
    ///   - clock: the time of each decision.
    ///   - onDecision: gets every decision, before the handshake has proved the peer's key. It is called on the
    ///     connection's event loop and must not block.
    public init(
        clients policy: any TrustPolicy, validator: any ChainValidator, clock: any WallClock = SystemWallClock(),
        onDecision: @escaping @Sendable (TrustDecision) -> Void = { _ in }
    ) {
        self.init(
            trust: { .policy(policy) }, purpose: .client, validator: validator, clock: clock, onDecision: onDecision)
    }

    /// Evaluates the server that a client dials.
    ///
    /// - Parameters:
    ///   - trust: evaluates the server.
    ///   - host: the host that the client dials; a callback does not know it.
    ///   - validator: validates chains, as a rule a `PathValidator` with the trusted anchors.
    ///   - clock: the time of each decision.
    ///   - onDecision: gets every decision, before the handshake has proved the peer's key. It is called on the
    ///     connection's event loop and must not block.
    public init(
        trust: TrustSource, host: DialedHost, validator: any ChainValidator, clock: any WallClock = SystemWallClock(),
        onDecision: @escaping @Sendable (TrustDecision) -> Void = { _ in }
    ) {
        self.init(
            trust: { trust }, purpose: .server(identity: host), validator: validator, clock: clock,
            onDecision: onDecision)
    }

    init(
        trust: @escaping @Sendable () -> TrustSource, purpose: ValidationPurpose, validator: any ChainValidator,
        clock: any WallClock,
        onDecision: @escaping @Sendable (TrustDecision) -> Void = { _ in }
    ) {
        self.trust = trust
        self.purpose = purpose
        self.validator = validator
        self.clock = clock
        self.onDecision = onDecision
    }

    /// Evaluates certificates, leaf first, by the policy of this moment, and reports the decision at once.
    public func evaluate(_ certificates: [NIOSSLCertificate]) -> TrustDecision {
        evaluate(PresentedChain(certificates))
    }

    private func evaluate(_ chain: PresentedChain) -> TrustDecision {
        let (decision, source) = judgment(of: chain)
        tell(decision, by: source)
        return decision
    }

    /// Evaluates a chain and notifies no observer.
    /// - Returns: the decision and its source, which may be replaced before the notification.
    func judgment(of chain: PresentedChain) -> (decision: TrustDecision, source: TrustSource) {
        let source = trust()
        let peer = ServerTrust(chain: chain, purpose: purpose, validator: validator)
        return (source.judgment(of: peer, at: clock.now), source)
    }

    /// Reports a decision to its source, to the validator and to `onDecision`.
    func tell(_ decision: TrustDecision, by source: TrustSource) {
        source.tell(decision)
        validator.noteUse(following: decision.pathsToFollow)
        onDecision(decision)
    }

    /// Continues at once, or on the event loop when the policy is prepared. It also continues if preparing failed: the
    /// policy then reports why it rejects.
    func whenPrepared(on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        guard let policy = policyToPrepare else { return body() }
        prepare(policy, on: loop, body)
    }

    /// The policy that needs preparation; nil if it can evaluate right away.
    var policyToPrepare: (any TrustPolicy)? { trust().policyToPrepare(for: purpose) }

    /// Continues on the event loop, whether or not preparing succeeded.
    func prepare(_ policy: any TrustPolicy, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        Task {
            try? await policy.prepare()
            loop.execute(body)
        }
    }

    /// The answer to NIOSSL, with the validated path in NIOSSL's types.
    func result(
        of decision: TrustDecision, about chain: PresentedChain, presented: [NIOSSLCertificate]
    ) -> NIOSSLVerificationResultWithMetadata {
        guard decision.isTrusted else { return .failed }
        return .certificateVerified(
            VerificationMetadata(
                decision.path.flatMap { chainMaker.chain(of: $0, presented: presented, as: chain) }))
    }
}

extension PeerVerification {
    /// The type of `NIOSSLCustomVerificationCallback`, which Hummingbird's `TLSChannelConfiguration` takes. It answers
    /// before it returns, unless the policy waits for something (`TrustPolicy.needsPreparation`).
    public var callback: @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResult>) -> Void {
        { certificates, promise in
            whenPrepared(on: promise.futureResult.eventLoop) {
                promise.succeed(evaluate(certificates).isTrusted ? .certificateVerified : .failed)
            }
        }
    }

    /// The type of `NIOSSLCustomVerificationCallbackWithMetadata`, which grpc-swift-nio-transport takes: the validated
    /// path is the connection's `nioSSL_peerValidatedCertificateChain()`. It answers before it returns, unless the
    /// policy waits for something.
    public var callbackWithMetadata:
        @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>) -> Void
    {
        { certificates, promise in
            whenPrepared(on: promise.futureResult.eventLoop) {
                let chain = PresentedChain(certificates)
                promise.succeed(result(of: evaluate(chain), about: chain, presented: certificates))
            }
        }
    }

    /// The type of Hummingbird's `customAsyncVerificationCallback`. ``callback`` does the same without a task.
    public var asyncCallback: @Sendable @concurrent ([NIOSSLCertificate]) async throws -> NIOSSLVerificationResult {
        { certificates in
            try? await policyToPrepare?.prepare()
            return evaluate(certificates).isTrusted ? .certificateVerified : .failed
        }
    }

    /// The TLS configuration for a server with a callback, which is called for every client.
    ///
    /// - Parameters:
    ///   - configuration: as for ``PinnedTLSServer``: the server's certificate and key, versions, ciphers.
    ///   - oldestTLSVersion: the oldest version of TLS, even if the configuration allows an older one.
    /// - Throws: ``TLSAdapterConfigurationError`` for one that would weaken the decision.
    public static func serverConfiguration(
        from configuration: TLSConfiguration, oldestTLSVersion: TLSVersion = .tlsv12
    ) throws(TLSAdapterConfigurationError) -> TLSConfiguration {
        try ServerTLSConfiguration.derived(from: configuration, oldestTLSVersion: oldestTLSVersion)
    }
}
