import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Gets a server's chain, which AsyncHTTPClient does not expose, by a separate handshake that ends as soon as the chain
/// arrives: to the same host and port, by the same route, with the same settings as the pool's, but without the
/// client's certificate.
///
/// The chain is public and proves nothing here. It is used for a connection whose own handshake has proved the key of
/// the same leaf. Any number of connections that need it at one time share one handshake, and it may begin before the
/// first of them needs it.
final class EvidenceCollector: Sendable {
    /// The route to the server.
    struct Route: Sendable {
        /// The name or address to connect to, directly or through a proxy.
        let target: String
        let port: Int
        let proxy: HTTPClient.Configuration.Proxy?
        let localAddress: String?

        /// An address, in brackets if necessary.
        var authority: String { target.contains(":") ? "[\(target)]:\(port)" : "\(target):\(port)" }
    }

    /// Runs a closure on a loop after a delay, and returns a closure that cancels it.
    typealias Timer = @Sendable (any EventLoop, TimeAmount, @escaping @Sendable () -> Void) -> @Sendable () -> Void

    private let reader: PresentedChainReader
    private let route: Route
    private let timeout: TimeAmount
    private let tries: Int
    private let timer: Timer
    private struct State {
        var running: EventLoopFuture<PresentedChain>?
        var stop: EventLoopPromise<PresentedChain>?
        var early: (chain: EventLoopFuture<PresentedChain>, begun: NIODeadline)?
        var handshakes = 0
        var connections = 0
        var isStopped = false
    }
    private let state = Lock(State())

    /// How long a chain that was read early is current.
    private static let earlyLifetime = TimeAmount.seconds(10)

    /// - Parameter timer: the timer for the next connection of a handshake; by default in the loop's time.
    /// - Throws: `TLSAdapterConfigurationError` for a configuration that would weaken a decision.
    init(
        host: DialedHost, configuration: TLSConfiguration, oldestTLSVersion: TLSVersion, route: Route,
        timeout: TimeAmount, tries: Int,
        timer: @escaping Timer = { loop, wait, body in
            let scheduled = loop.scheduleTask(in: wait, body)
            return { scheduled.cancel() }
        }
    ) throws(TLSAdapterConfigurationError) {
        reader = try PresentedChainReader(host: host, configuration: configuration, oldestTLSVersion: oldestTLSVersion)
        self.route = route
        self.timeout = timeout
        self.tries = tries
        self.timer = timer
    }

    /// The number of handshakes that were begun.
    var handshakes: Int { state.withLock { $0.handshakes } }

    /// The number of connections that were begun for them.
    var connections: Int { state.withLock { $0.connections } }

    /// Begins to read the chain for a connection that is being made and will need it.
    func readEarly(on loop: any EventLoop) {
        let promise = loop.makePromise(of: PresentedChain.self)
        let isNeeded = state.withLock { state in
            if let early = state.early, early.begun + Self.earlyLifetime > .now() { return false }
            guard state.running == nil, !state.isStopped else { return false }
            state.early = (promise.futureResult, .now())
            return true
        }
        guard isNeeded else { return promise.fail(ChannelError.ioOnClosedChannel) }
        newChain(on: loop).cascade(to: promise)
    }

    /// Forgets the chain that was read early, so that the next caller gets a new one.
    func forgetEarly() { state.withLock { $0.early = nil } }

    /// Ends the current handshake, and begins no other.
    func stop() {
        let stop = state.withLock { state in
            state.isStopped = true
            state.early = nil
            return state.stop
        }
        stop?.fail(HTTPClientError.cancelled)
    }

    /// The chain that the server presents with a leaf.
    ///
    /// Fails with `certificatesDiffer` if the server has several certificates and never presents this leaf.
    func chain(with leaf: [UInt8], on loop: any EventLoop) -> EventLoopFuture<PresentedChain> {
        guard let early = earlyChain(on: loop) else { return chain(with: leaf, on: loop, triesLeft: tries) }
        return early.flatMap { chain in
            if chain?.leaf == leaf, let chain { return loop.makeSucceededFuture(chain) }
            return self.chain(with: leaf, on: loop, triesLeft: self.tries)
        }
    }

    private func chain(with leaf: [UInt8], on loop: any EventLoop, triesLeft: Int) -> EventLoopFuture<PresentedChain> {
        newChain(on: loop).flatMap { chain in
            if chain.leaf == leaf { return loop.makeSucceededFuture(chain) }
            guard triesLeft > 1 else {
                return loop.makeFailedFuture(
                    PinnedHTTPClientError(
                        .certificatesDiffer, expected: "the certificate of the connection in a second handshake",
                        found: "another one in each of \(self.tries) handshakes with \(self.reader.host)",
                        remedy: "Serve one certificate for the name, or pin the leaves with certificatePinOnly."))
            }
            return self.chain(with: leaf, on: loop, triesLeft: triesLeft - 1)
        }
    }

    /// The chain that the server presents now.
    func chain(on loop: any EventLoop) -> EventLoopFuture<PresentedChain> {
        guard let early = earlyChain(on: loop) else { return newChain(on: loop) }
        return early.flatMap { chain in
            if let chain { return loop.makeSucceededFuture(chain) }
            return self.newChain(on: loop)
        }
    }

    /// The chain that was read early; nil if that failed.
    private func earlyChain(on loop: any EventLoop) -> EventLoopFuture<PresentedChain?>? {
        let early = state.withLock { state in
            state.early.flatMap { $0.begun + Self.earlyLifetime > .now() ? $0.chain : nil }
        }
        return early.map { $0.hop(to: loop).map(Optional.some).flatMapErrorThrowing { _ in nil } }
    }

    private func newChain(on loop: any EventLoop) -> EventLoopFuture<PresentedChain> {
        let promise = loop.makePromise(of: PresentedChain.self)
        let (running, isStopped) = state.withLock { state -> (EventLoopFuture<PresentedChain>?, Bool) in
            if state.isStopped { return (nil, true) }
            if let running = state.running { return (running, false) }
            state.running = promise.futureResult
            state.stop = promise
            state.handshakes += 1
            return (nil, false)
        }
        if isStopped {
            promise.fail(HTTPClientError.alreadyShutdown)
        } else if let running {
            running.hop(to: loop).cascade(to: promise)
        } else {
            promise.futureResult.whenComplete { _ in
                self.state.withLock { ($0.running, $0.stop) = (nil, nil) }
            }
            handshake(on: loop, promise)
        }
        return promise.futureResult
    }

    /// Several connections for one chain, so that a lossy path or a server that neglects one of them does not prevent a
    /// result.
    private static let maximumConnections = 3
    /// Maximum wait before another connection is tried while the earlier ones are silent.
    private static let longestPause = TimeAmount.seconds(5)

    private func handshake(on loop: any EventLoop, _ result: EventLoopPromise<PresentedChain>) {
        result.fail(
            PinnedHTTPClientError(
                .evidenceTimedOut, expected: "a server's certificates within \(timeout)", found: "none",
                remedy: "Check that the server answers, or raise timeout.connect."), after: timeout)
        loop.execute {
            // The loop is the promise's own.
            let attempts = NIOLoopBound(EvidenceAttempts(result), eventLoop: loop)
            self.attempt(attempts, on: loop)
            let pause = min(Self.longestPause, .nanoseconds(self.timeout.nanoseconds / 4))
            for number in 1..<Self.maximumConnections {
                let cancel = self.timer(loop, .nanoseconds(pause.nanoseconds * Int64(number))) {
                    self.attempt(attempts, on: loop)
                }
                result.futureResult.whenComplete { _ in cancel() }
            }
        }
    }

    private func attempt(_ attempts: NIOLoopBound<EvidenceAttempts>, on loop: any EventLoop) {
        let one = attempts.value.begin()
        state.withLock { $0.connections += 1 }
        let result = attempts.value.result
        one.futureResult.whenComplete { attempts.value.end($0) }
        var bootstrap = ClientBootstrap(group: loop).connectTimeout(timeout)
        if let local = route.localAddress {
            do {
                bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: local, port: 0))
            } catch {
                return one.fail(error)
            }
        }
        let connected = connect(bootstrap) { channel in
            // Any end of the wait closes the connection.
            result.futureResult.whenComplete { _ in channel.closeBelowTLSLater() }
            return channel.eventLoop.makeCompletedFuture { try self.start(on: channel) }
                .map { $0.cascade(to: one) }
        }
        connected.whenFailure { one.fail($0) }
        // A connection that is never established fails with the wait.
        result.futureResult.whenComplete { _ in one.fail(ChannelError.ioOnClosedChannel) }
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
        guard let proxy = route.proxy else { return try reader.addHandlers(to: channel.pipeline.syncOperations) }
        var headers = proxy.connectHeaders
        if let authorization = proxy.authorization {
            headers.replaceOrAdd(name: "proxy-authorization", value: authorization.headerValue)
        }
        return try ProxyTunnel.open(to: route.authority, headers: headers, on: channel).flatMapThrowing {
            try self.reader.addHandlers(to: channel.pipeline.syncOperations)
        }.flatMap { $0 }
    }
}

/// Connections that race for one chain. Belongs to an event loop.
private final class EvidenceAttempts {
    let result: EventLoopPromise<PresentedChain>
    private var running = 0

    init(_ result: EventLoopPromise<PresentedChain>) { self.result = result }

    func begin() -> EventLoopPromise<PresentedChain> {
        running += 1
        return result.futureResult.eventLoop.makePromise()
    }

    /// The first chain is the result. A failure is the result only if no connection is left: then the server refused
    /// and was not silent.
    func end(_ outcome: Result<PresentedChain, any Error>) {
        running -= 1
        switch outcome {
        case .success(let chain): result.succeed(chain)
        case .failure(let error): if running == 0 { result.fail(error) }
        }
    }
}
