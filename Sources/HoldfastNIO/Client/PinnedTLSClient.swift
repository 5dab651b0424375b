public import Holdfast
public import NIOCore
public import NIOSSL

/// A TLS client for one host whose server Holdfast evaluates. It makes the handlers for a channel's pipeline.
///
/// ```swift
/// let client = try PinnedTLSClient(
///     trust: .policy(policy), host: DialedHost("www.example.com"),
///     validator: PathValidator(anchors: try await TrustAnchors.system()))
/// let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
///     .connect(to: client) { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: $0) }
/// ```
///
/// The server is evaluated in every handshake, by the policy of that moment. Nothing is sent and nothing is delivered
/// until the server is trusted and the handshake is complete. If the server is not trusted, the `TrustFailure` is the
/// error of the channel and of every write. One client makes any number of connections.
///
/// NIOSSL's clients never resume a session (they have no way to set one), so a decision is never skipped, and a context
/// remembers nothing about a server. The context still belongs to this client alone.
public final class PinnedTLSClient: Sendable {
    /// The default limit for a handshake.
    public static let defaultHandshakeTimeout: Duration = .seconds(30)

    /// The dialed host: policy, server name indication and identity use it.
    public let host: DialedHost
    /// The limit for a handshake, from the connection to the decision; nil for no limit.
    public let handshakeTimeout: Duration?

    let verification: PeerVerification
    private let context: NIOSSLContext

    /// Makes a client. It reads no file except the client's own certificate, if the configuration names one.
    ///
    /// - Parameters:
    ///   - trust: evaluates the server.
    ///   - host: the dialed host. Addresses are not named in the handshake (RFC 6066 3).
    ///   - configuration: versions, ciphers, application protocols, the client's certificate. Holdfast sets the
    ///     verification itself: `.noHostnameVerification` instead of `.fullVerification` changes nothing, renegotiation
    ///     is always off, and settings that would weaken the decision are refused.
    ///   - validator: validates chains, as a rule a `PathValidator` with the trusted anchors.
    ///   - oldestTLSVersion: the oldest version of TLS, even if the configuration allows an older one.
    ///   - handshakeTimeout: the limit for a handshake; nil for no limit.
    ///   - clock: the time of each decision.
    /// - Throws: ``TLSAdapterConfigurationError``.
    public convenience init(
        trust: TrustSource, host: DialedHost, configuration: TLSConfiguration = .makeClientConfiguration(),
        validator: any ChainValidator, oldestTLSVersion: TLSVersion = .tlsv12,
        handshakeTimeout: Duration? = PinnedTLSClient.defaultHandshakeTimeout,
        clock: any WallClock = SystemWallClock()
    ) throws(TLSAdapterConfigurationError) {
        try self.init(
            trust: trust, host: host, configuration: configuration, validator: validator,
            oldestTLSVersion: oldestTLSVersion, handshakeTimeout: handshakeTimeout, clock: clock,
            noticingCertificateRequest: nil)
    }

    /// The same, with a notice if a server asks for the client's certificate.
    /// - Parameter notice: called on the event loop, before the handshake of a server that is trusted is complete. It
    ///   is not called for a server that is not trusted.
    package init(
        trust: TrustSource, host: DialedHost, configuration: TLSConfiguration, validator: any ChainValidator,
        oldestTLSVersion: TLSVersion = .tlsv12, handshakeTimeout: Duration?, clock: any WallClock = SystemWallClock(),
        noticingCertificateRequest notice: (@Sendable () -> Void)?
    ) throws(TLSAdapterConfigurationError) {
        var derived = try ClientTLSConfiguration.derived(from: configuration, oldestTLSVersion: oldestTLSVersion)
        if let notice {
            // BoringSSL requests the client's certificate only if the server has requested one.
            derived.sslContextCallback = { _, promise in
                notice()
                promise.succeed(.noChanges)
            }
        }
        context = try DerivedTLSConfiguration.context(derived)
        verification = PeerVerification(trust: trust, host: host, validator: validator, clock: clock)
        self.host = host
        self.handshakeTimeout = handshakeTimeout
    }

    /// Adds TLS and, behind it, Holdfast's gate to a pipeline; the application's handlers go behind both. Call it on
    /// the channel's event loop.
    ///
    /// - Returns: the decision. A decision to trust arrives only once the handshake is complete, because only then has
    ///   the server proved that it holds its key; a rejection arrives as soon as the handshake has failed because of
    ///   it. The future fails, with NIOSSL's error or a ``TLSAdapterError``, when the handshake ended for another
    ///   reason.
    /// - Throws: NIO's errors for a pipeline that accepts no handlers.
    @discardableResult
    public func addHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations,
        position: ChannelPipeline.SynchronousOperations.Position = .last
    ) throws -> EventLoopFuture<TrustDecision> {
        let judge = PeerJudge(verification)
        let tls = try NIOSSLClientHandler(
            context: context, serverHostname: host.serverNameIndication,
            customVerificationCallbackWithMetadata: { certificates, promise in
                judge.judge(certificates, promise)
            })
        return try TrustGateHandler.add(
            behind: tls, judge: judge, timeout: handshakeTimeout.map { TimeAmount($0) }, to: pipeline,
            position: position)
    }

    /// Adds the handlers to a channel: for `channelInitializer` of a bootstrap. Call it from any thread.
    public func configure(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { _ = try self.addHandlers(to: channel.pipeline.syncOperations) }
    }
}
