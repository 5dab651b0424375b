public import Holdfast
public import NIOCore
public import NIOSSL

/// The server's side of mutual TLS, with Holdfast evaluating the clients. It makes the handlers for the pipeline of
/// each accepted connection.
///
/// ```swift
/// let server = try PinnedTLSServer(
///     clients: PinnedPolicy(clients: "devices", pins: pins),
///     configuration: .makeServerConfigurationWithMTLS(
///         certificateChain: chain, privateKey: key, trustRoots: .default),
///     validator: PathValidator(anchors: deviceAnchors))
/// let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
///     .childChannelInitializer { channel in
///         server.configure(channel) { channel, client in
///             try channel.pipeline.syncOperations.addHandler(Application(for: client.leaf.subject))
///         }
///     }
///     .bind(host: "::", port: 8443).get()
/// ```
///
/// Every client must present a certificate (`emptyChain` otherwise) and is evaluated by the one policy that is given
/// here: as a client, without a host, and never by a policy that its certificate names. Nothing is sent and nothing is
/// delivered to the application until the client is trusted and the handshake is complete. If the client is not
/// trusted, the `TrustFailure` is the channel's error and the connection ends.
///
/// A client that resumes a session is not asked for its certificate again, and NIOSSL's callback does not run. Its leaf
/// is in the session, the chain it presented is remembered, and both are evaluated again by the current policy at the
/// current time. A session without a leaf gets no decision, and its connection is closed. The path is then in
/// ``ClientIdentity``, while `nioSSL_peerValidatedCertificateChain()` is nil.
///
/// With TLS 1.3 the client's handshake is over before the server has seen its certificate: it learns of a rejection on
/// its first read. One server works for any number of listening sockets.
public final class PinnedTLSServer: Sendable {
    /// The default limit for a handshake.
    public static let defaultHandshakeTimeout: Duration = .seconds(30)

    /// The limit for a handshake, from the connection to the decision; nil for no limit.
    public let handshakeTimeout: Duration?

    private let verification: PeerVerification
    private let clients: Lock<any TrustPolicy>
    private let configuration: TLSConfiguration
    private let sessions: Lock<ClientSessions>
    private let mostChains: Int

    /// Makes a server. It reads no file except the server's own certificate and key, if the configuration names files.
    ///
    /// - Parameters:
    ///   - clients: evaluates every client.
    ///   - configuration: the server's certificate and key, versions, ciphers, application protocols. Holdfast sets the
    ///     verification itself; renegotiation is always off, and settings that would weaken the decision are refused.
    ///   - validator: validates chains, as a rule a `PathValidator` with the anchors of clients.
    ///   - oldestTLSVersion: the oldest version of TLS, even if the configuration allows an older one.
    ///   - handshakeTimeout: the limit for a handshake; nil for no limit.
    ///   - clock: the time of each decision.
    /// - Throws: ``TLSAdapterConfigurationError``.
    public convenience init(
        clients: any TrustPolicy, configuration: TLSConfiguration, validator: any ChainValidator,
        oldestTLSVersion: TLSVersion = .tlsv12,
        handshakeTimeout: Duration? = PinnedTLSServer.defaultHandshakeTimeout,
        clock: any WallClock = SystemWallClock()
    ) throws(TLSAdapterConfigurationError) {
        try self.init(
            clients: clients, configuration: configuration, validator: validator, oldestTLSVersion: oldestTLSVersion,
            handshakeTimeout: handshakeTimeout, clock: clock, mostChains: ClientSessions.mostChains)
    }

    init(
        clients: any TrustPolicy, configuration: TLSConfiguration, validator: any ChainValidator,
        oldestTLSVersion: TLSVersion, handshakeTimeout: Duration?, clock: any WallClock, mostChains: Int
    ) throws(TLSAdapterConfigurationError) {
        let derived = try ServerTLSConfiguration.derived(from: configuration, oldestTLSVersion: oldestTLSVersion)
        let current = Lock<any TrustPolicy>(clients)
        self.configuration = derived
        self.clients = current
        self.mostChains = mostChains
        sessions = Lock(try ClientSessions(configuration: derived, mostChains: mostChains))
        verification = PeerVerification(
            trust: { .policy(current.withLock { $0 }) }, purpose: .client, validator: validator, clock: clock)
        self.handshakeTimeout = handshakeTimeout
    }

    /// Replaces the policy. The new one applies to every handshake that is not decided yet, and no earlier session can
    /// be resumed. The application has to end open connections itself.
    ///
    /// - Throws: ``TLSAdapterConfigurationError`` when the server's certificate can no longer be read. The new policy
    ///   applies even then, also to earlier sessions.
    public func replacePolicy(_ policy: any TrustPolicy) throws(TLSAdapterConfigurationError) {
        // The old policy's `deinit` is the application's code, so it runs outside the lock.
        let old = clients.withLock { current in
            defer { current = policy }
            return current
        }
        withExtendedLifetime(old) {}
        try endSessions()
    }

    /// Ends every session: no client can resume an earlier one. It also reads the server's certificate and key again if
    /// the configuration names files, so use it to renew them.
    ///
    /// - Throws: ``TLSAdapterConfigurationError`` when they cannot be read; the server then continues as before.
    public func endSessions() throws(TLSAdapterConfigurationError) {
        let next = try ClientSessions(configuration: configuration, mostChains: mostChains)
        // The old context is released outside the lock, because it holds the application's objects.
        _ = sessions.withLock { sessions in
            defer { sessions = next }
            return sessions
        }
    }

    /// Adds TLS and, behind it, Holdfast's gate to the pipeline of an accepted connection; the application's handlers
    /// go behind both. Call it on the channel's event loop.
    ///
    /// - Returns: the decision. A decision to trust arrives only once the handshake is complete, because only then has
    ///   the client proved that it holds its key; a rejection arrives as soon as the handshake has failed because of
    ///   it. The future fails, with NIOSSL's error or a ``TLSAdapterError``, when the handshake ended for another
    ///   reason.
    /// - Throws: NIO's errors for a pipeline that accepts no handlers.
    @discardableResult
    public func addHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations,
        position: ChannelPipeline.SynchronousOperations.Position = .last
    ) throws -> EventLoopFuture<TrustDecision> {
        let sessions = currentSessions()
        let judge = PeerJudge(verification, sessions: sessions)
        let tls = NIOSSLServerHandler(
            context: sessions.context,
            customVerificationCallbackWithMetadata: { certificates, promise in
                judge.judge(certificates, promise)
            })
        return try TrustGateHandler.add(
            behind: tls, judge: judge, timeout: handshakeTimeout.map { TimeAmount($0) }, to: pipeline,
            position: position)
    }

    /// Adds the handlers to an accepted channel: for `childChannelInitializer` of a bootstrap. Call it from any thread.
    ///
    /// - Parameters:
    ///   - channel: the accepted channel.
    ///   - whenTrusted: sets up the channel for a client that is trusted. It runs on the event loop as soon as the
    ///     handshake is complete and before any byte is delivered; if it throws, the channel is closed.
    public func configure(
        _ channel: any Channel,
        whenTrusted: @escaping @Sendable (_ channel: any Channel, _ client: ClientIdentity) throws -> Void
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            _ = try self.addHandlers(to: channel.pipeline.syncOperations)
            let gate = try channel.pipeline.syncOperations.handler(type: TrustGateHandler.self)
            gate.client.whenSuccess { client in
                do {
                    try whenTrusted(channel, client)
                } catch {
                    channel.pipeline.fireErrorCaught(error)
                    channel.close(promise: nil)
                }
            }
        }
    }

    private func currentSessions() -> ClientSessions {
        let sessions = sessions.withLock { $0 }
        guard sessions.isFull else { return sessions }
        // A client that was not remembered cannot resume: until there is a new context, it is refused.
        guard let next = try? sessions.successor() else { return sessions }
        return self.sessions.withLock { current in
            // Another event loop may have replaced it first.
            if current === sessions { current = next }
            return current
        }
    }
}
