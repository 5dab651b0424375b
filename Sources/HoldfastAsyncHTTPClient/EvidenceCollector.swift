import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Gets the chain that a server presents, which AsyncHTTPClient does not tell, by a handshake of Holdfast's own that
/// sends nothing: to the same host and port, by the same route, with the same settings as the pool's.
///
/// Any number of connections that need it at one time share one handshake.
final class EvidenceCollector: Sendable {
    /// How the server is reached.
    struct Route: Sendable {
        /// The name or address that is connected to, or that a proxy is asked for.
        let target: String
        let port: Int
        let proxy: HTTPClient.Configuration.Proxy?
        let localAddress: String?

        /// An address in brackets where it needs them.
        var authority: String { target.contains(":") ? "[\(target)]:\(port)" : "\(target):\(port)" }
    }

    private let tls: PinnedTLSClient
    private let route: Route
    private let timeout: TimeAmount
    private let tries: Int
    private struct State {
        var running: EventLoopFuture<PresentedChain>?
        var handshakes = 0
    }
    private let state = Lock(State())

    /// - Throws: `TLSAdapterConfigurationError` for a configuration that would weaken a decision.
    init(
        host: DialledHost, configuration: TLSConfiguration, oldestVersion: TLSVersion, route: Route,
        timeout: TimeAmount, tries: Int
    ) throws(TLSAdapterConfigurationError) {
        // Whatever the server presents is what was asked for; who judges it does so with the policy of that moment.
        let everyone = TrustSource { trust, time in
            TrustDecision(.trusted, policyName: "evidence", host: trust.host, time: time, chain: trust.chain)
        }
        tls = try PinnedTLSClient(
            trust: everyone, host: host, configuration: configuration,
            validator: PathValidator(anchors: TrustAnchors([])), oldestVersion: oldestVersion,
            handshakeTimeout: timeout)
        self.route = route
        self.timeout = timeout
        self.tries = tries
    }

    /// How many handshakes were begun.
    var handshakes: Int { state.withLock { $0.handshakes } }

    /// The chain that comes with a leaf.
    ///
    /// Fails with `certificatesDiffer` when the server presents another leaf each time: several certificates behind one
    /// name, of which the one in question does not come up.
    func chain(with leaf: [UInt8], on loop: any EventLoop) -> EventLoopFuture<PresentedChain> {
        chain(with: leaf, on: loop, triesLeft: tries)
    }

    private func chain(
        with leaf: [UInt8], on loop: any EventLoop, triesLeft: Int
    ) -> EventLoopFuture<PresentedChain> {
        chain(on: loop).flatMap { chain in
            if chain.leaf == leaf { return loop.makeSucceededFuture(chain) }
            guard triesLeft > 1 else {
                return loop.makeFailedFuture(
                    PinnedHTTPClientError(
                        .certificatesDiffer, expected: "the certificate of the connection in a second handshake",
                        found: "another one in each of \(self.tries) handshakes with \(self.tls.host)",
                        remedy: "Serve one certificate for the name, or pin the leaves with certificatePinOnly."))
            }
            return self.chain(with: leaf, on: loop, triesLeft: triesLeft - 1)
        }
    }

    /// The chain that the server presents now.
    func chain(on loop: any EventLoop) -> EventLoopFuture<PresentedChain> {
        let promise = loop.makePromise(of: PresentedChain.self)
        let running = state.withLock { state -> EventLoopFuture<PresentedChain>? in
            if let running = state.running { return running }
            state.running = promise.futureResult
            state.handshakes += 1
            return nil
        }
        if let running {
            running.hop(to: loop).cascade(to: promise)
            return promise.futureResult
        }
        promise.futureResult.whenComplete { _ in self.state.withLock { $0.running = nil } }
        handshake(on: loop, promise)
        return promise.futureResult
    }

    private func handshake(on loop: any EventLoop, _ promise: EventLoopPromise<PresentedChain>) {
        let result = loop.makePromise(of: PresentedChain.self)
        let timer = loop.scheduleTask(in: timeout) { [timeout] in
            result.fail(
                PinnedHTTPClientError(
                    .evidenceTimedOut, expected: "a complete handshake within \(timeout)", found: "none",
                    remedy: "Check that the server answers, or raise timeout.connect."))
        }
        var bootstrap = ClientBootstrap(group: loop).connectTimeout(timeout)
        if let local = route.localAddress {
            do {
                bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: local, port: 0))
            } catch {
                result.fail(error)
            }
        }
        let connected = connect(bootstrap) { channel in
            // Whatever ends the wait ends the connection. A goodbye lets the server read the end of the handshake,
            // which it would lose to a reset; nobody waits for its answer.
            result.futureResult.whenSuccess { _ in channel.close(promise: nil) }
            result.futureResult.whenFailure { _ in channel.eventLoop.execute { channel.closeBelowTLS() } }
            return channel.eventLoop.makeCompletedFuture { try self.start(on: channel) }
                .map { $0.cascade(to: result) }
        }
        connected.whenFailure { result.fail($0) }
        result.futureResult.whenComplete { outcome in
            timer.cancel()
            promise.completeWith(outcome)
        }
    }

    private func connect(
        _ bootstrap: ClientBootstrap, _ setUp: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = bootstrap.channelInitializer(setUp)
        if let proxy = route.proxy { return bootstrap.connect(host: proxy.host, port: proxy.port) }
        if let address = try? SocketAddress(ipAddress: route.target, port: route.port) {
            return bootstrap.connect(to: address)
        }
        return bootstrap.connect(host: route.target, port: route.port)
    }

    private func start(on channel: any Channel) throws -> EventLoopFuture<PresentedChain> {
        let decision: EventLoopFuture<TrustDecision>
        if let proxy = route.proxy {
            var headers = proxy.connectHeaders
            if let authorization = proxy.authorization {
                headers.replaceOrAdd(name: "proxy-authorization", value: authorization.headerValue)
            }
            decision = try ProxyTunnel.open(to: route.authority, headers: headers, on: channel).flatMapThrowing {
                try self.tls.addHandlers(to: channel.pipeline.syncOperations)
            }.flatMap { $0 }
        } else {
            decision = try tls.addHandlers(to: channel.pipeline.syncOperations)
        }
        return decision.map { $0.chain ?? PresentedChain([]) }
    }
}

extension Channel {
    /// Closes the socket without the goodbye of TLS: a peer that is not trusted does not get to answer it, nor to keep
    /// the connection open by not answering. On the event loop, and not from within TLS's own handler.
    func closeBelowTLS() {
        if let context = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            context.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
