public import AsyncHTTPClient
public import Holdfast
import HoldfastNIO
public import Logging
public import NIOCore
import NIOHTTP1
public import NIOPosix
public import NIOSSL

/// AsyncHTTPClient's `HTTPClient`, with Holdfast evaluating every server before a byte of a request is sent.
///
/// If you use `HTTPClient` today, change the line that makes it. Requests and responses stay AsyncHTTPClient's own:
/// ```swift
/// // let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
/// let client = try PinnedHTTPClient(manager: manager, validator: validator, configuration: configuration)
///
/// let response = try await client.execute(HTTPClientRequest(url: "https://www.example.com/"), timeout: .seconds(30))
/// let body = try await response.body.collect(upTo: 1 << 20)
/// try await client.shutdown()
/// ```
/// If a server is refused, the request throws a `TrustFailure` as soon as the connection is made. No part of the
/// request was sent; over HTTP/2 only the connection's preface and settings were.
///
/// ## How it decides
/// AsyncHTTPClient has no hook during a handshake. Afterward it gives an initializer the connection, but only with the
/// server's own certificate and without the host. So there is one inner client for each scheme, host and port, and a
/// policy that needs the whole chain gets it from a separate handshake with the same server. This handshake begins
/// together with the first connection, presents no client certificate, and ends when the server's certificates have
/// arrived, so it does not delay the first request. The chain is remembered for the certificate: later connections need
/// no such handshake. Each connection is evaluated by the policy of that moment. When policies or anchors change,
/// connections that would be refused now are closed, with the requests on them. When the basis of a decision expires,
/// or after ten minutes, the decision is made again, and connections that are no longer trusted get no further
/// requests.
///
/// TLS itself verifies no certificate: Holdfast alone decides, at the time of the client's clock.
///
/// If the configuration has a client certificate, a server sees it only after Holdfast has accepted the server, by the
/// key that it has proved in the same handshake. A custom key (`NIOSSLCustomPrivateKey`) is given as `clientKey`.
///
/// ## What differs from HTTPClient
/// - A host without a policy is refused unless the manager's `unknownHosts` allows it, and so is `http` for every host
///   whose policy requires a certificate.
/// - Redirects are followed only if ``RedirectRules`` are given, and each target is evaluated before the client
///   connects to it; a redirect from https to http is an error. AsyncHTTPClient's `redirectConfiguration` cannot be
///   read and is ignored.
/// - `connectionPool.retryConnectionEstablishment` is off, because otherwise a refusal would surface only at the
///   deadline.
/// - Trust roots in a `TLSConfiguration`, of the client or of a request, and verification turned off are refused: only
///   the validator's anchors and the policy are used.
/// - A SOCKS proxy is refused. Through an HTTP proxy the policy evaluates the origin.
/// - Event loops must be those of `MultiThreadedEventLoopGroup`, on Apple's platforms as well. Connections do not run
///   on them but on a separate thread of the client, which ends when a server on it stays silent: such a connection
///   cannot be closed otherwise. The other connections of the thread then end with the requests on them.
///
/// Shut it down before you release it.
public final class PinnedHTTPClient: Sendable {
    /// The limits of the client's memory and connections.
    public struct Limits: Sendable, Hashable {
        /// Origins (scheme, host and port) that connections are kept for; 1 or more. Beyond that, the least recently
        /// used one is dropped. If all of them have requests in flight, a request to another origin is an error.
        ///
        /// Of these at most 16 are ports of one host. A 17th replaces the least recently used one of the same host, and
        /// is an error if all of them have requests in flight; other hosts keep theirs.
        public var origins = 256
        /// Connections that may wait for their server's first bytes at one time, over all origins that have not
        /// answered this client before; 1 or more. A request for one more waits until its deadline and then fails with
        /// `silentPeer`. The ports of one host have at most four, whatever the limit.
        public var unansweredConnections = 12
        /// Certificates whose chains are remembered; 1 or more; the oldest is dropped first.
        public var evidence = 1_024
        /// How long a chain is remembered, and how long a decision is used before it is made again; more than zero.
        public var evidenceLifetime = Duration.seconds(600)
        /// Maximum number of handshakes until the server presents the certificate of the connection; 1 or more. Servers
        /// with several certificates for one name need several.
        public var evidenceTries = 4
        /// How long connections may take to close when the client is shut down; more than zero. Then the
        /// threads of those that are still open end, and close them.
        public var closing = Duration.seconds(10)

        /// The limits that suit most applications.
        public init() {}
    }

    /// The event loops for timers and waiting requests; connections have separate threads.
    public let eventLoopGroup: any EventLoopGroup

    let evaluator: TrustEvaluator
    let clients: OriginClients
    let evidence: EvidenceStore
    private let origins: KnownOrigins
    private let redirects: RedirectRules?
    private let watcher: Task<Void, Never>

    /// Makes a client; nothing is connected.
    ///
    /// - Parameters:
    ///   - manager: finds the policy of each host.
    ///   - validator: validates chains with its trusted anchors. If they are those of a `TrustAnchorStore`, the next
    ///     request evaluates connections by its new ones. New lists of a `RevocationStore` end connections to servers
    ///     that they revoke.
    ///   - eventLoopGroup: the event loops for timers and waiting requests; those of Network.framework are refused. It
    ///     must outlive the client.
    ///   - configuration: AsyncHTTPClient's. Settings of trust roots and verification are refused, its
    ///     `redirectConfiguration` is ignored, and the rest applies.
    ///   - redirects: the rules for redirects; with nil none is followed, and the redirect itself is the response.
    ///   - oldestTLSVersion: the oldest version of TLS, even if the configuration allows an older one.
    ///   - limits: the limits of the client's memory and connections.
    ///   - clock: the time of each decision.
    ///   - clientKey: the key of the client certificate if the process does not have it, such as in a hardware module;
    ///     the TLS configuration then has the `certificateChain` without a `privateKey`.
    /// - Throws: ``PinnedHTTPClientError``.
    public init(
        manager: TrustManager, validator: PathValidator,
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        configuration: sending HTTPClient.Configuration = HTTPClient.Configuration(),
        redirects: RedirectRules? = nil, oldestTLSVersion: TLSVersion = .tlsv12, limits: Limits = Limits(),
        clock: any WallClock = SystemWallClock(), clientKey: (any NIOSSLCustomPrivateKey)? = nil
    ) throws(PinnedHTTPClientError) {
        try Self.check(eventLoopGroup, configuration, limits)
        let evaluator = TrustEvaluator(manager: manager, validator: validator, clock: clock)
        self.redirects = redirects
        let idleTimeout = configuration.connectionPool.idleTimeout
        let tls = configuration.tlsConfiguration
        evidence = EvidenceStore(capacity: limits.evidence, lifetime: TimeAmount(limits.evidenceLifetime))
        let maker = OriginClientMaker(
            configuration: configuration, evaluator: evaluator, evidence: evidence, oldestTLSVersion: oldestTLSVersion,
            tries: limits.evidenceTries, outsideKey: clientKey)
        if let tls { try maker.checkWithKey(tls) }
        self.evaluator = evaluator
        origins = KnownOrigins(capacity: limits.origins)
        self.eventLoopGroup = eventLoopGroup
        let clients = OriginClients(
            maker: maker, loops: eventLoopGroup, capacity: limits.origins,
            unansweredCapacity: limits.unansweredConnections, idleTimeout: idleTimeout,
            closingTimeout: TimeAmount(limits.closing))
        self.clients = clients
        let (policies, lists) = (evaluator.manager.changes(), evaluator.validator.revocationSource.changes())
        // A request evaluates its connections before it uses one; this ends unused ones.
        let end = { @Sendable in
            // Check all clients, because some of many simultaneous changes may not be reported.
            for client in clients.all {
                client.gate.endWhatNoLongerHolds(under: evaluator.look(at: client.key.origin.host))
            }
        }
        watcher = Task {
            async let ended: Void = {
                for await _ in lists { end() }
            }()
            for await _ in policies { end() }
            await ended
        }
    }

    deinit {
        watcher.cancel()
        clients.abandon()
    }

    private static func check(
        _ group: any EventLoopGroup, _ configuration: HTTPClient.Configuration, _ limits: Limits
    ) throws(PinnedHTTPClientError) {
        guard ClientBootstrap(validatingGroup: group) != nil else {
            throw PinnedHTTPClientError(
                .eventLoopsRefused, expected: "event loops of MultiThreadedEventLoopGroup", found: "\(type(of: group))",
                remedy: "Give MultiThreadedEventLoopGroup.singleton; elsewhere no connection can be evaluated.")
        }
        if var proxy = configuration.proxy {
            proxy.connectHeaders = [:]
            guard proxy != .socksServer(host: proxy.host, port: proxy.port) else {
                throw PinnedHTTPClientError(
                    .proxyRefused, expected: "an HTTP proxy or none", found: "a SOCKS proxy",
                    remedy: "Use an HTTP proxy.")
            }
        }
        guard limits.origins > 0, limits.evidence > 0, limits.evidenceTries > 0, limits.evidenceLifetime > .zero,
            limits.closing > .zero, limits.unansweredConnections > 0
        else {
            throw PinnedHTTPClientError(
                .invalidLimit, expected: "limits above zero", found: "\(limits)", remedy: "Start from Limits().")
        }
    }

    // MARK: Requests

    /// Sends a request, to a server that its host's policy trusts.
    ///
    /// - Parameters:
    ///   - request: AsyncHTTPClient's request. The rules for the client's TLS configuration apply to its own.
    ///   - deadline: the time by which the head of the response must have arrived. The time for its body is not
    ///     limited: read it in a task that you cancel, or collect it with your own limit.
    ///   - logger: gets redirects and refusals, and is passed on to AsyncHTTPClient.
    /// - Returns: the response, whose body is streamed. Read it to its end or release it.
    /// - Throws: `TrustFailure`, ``PinnedHTTPClientError``, and AsyncHTTPClient's errors, including cancellation.
    @concurrent
    public func execute(
        _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        var redirects = RedirectEngine(rules: redirects, url: request.url)
        var request = request
        var history: [HTTPClientRequestResponse] = []
        while true {
            let target = try RequestTarget(request.url, origins: origins)
            var response = try await send(request, to: target, deadline: deadline, logger: logger)
            let head = HTTPResponseHead(version: response.version, status: response.status, headers: response.headers)
            history.append(HTTPClientRequestResponse(request: request, responseHead: head))
            response.history = history
            guard
                let next = try redirects.next(
                    after: request, at: try target.url, status: response.status, headers: response.headers)
            else { return response }
            logger?.debug(
                "following a redirect",
                metadata: ["from": "\(request.url.quotedAddress)", "to": "\(next.url.quotedAddress)"])
            request = next
        }
    }

    /// Sends a request, to a server that its host's policy trusts.
    ///
    /// - Parameters:
    ///   - request: AsyncHTTPClient's request. The rules for the client's TLS configuration apply to its own.
    ///   - timeout: the limit for the head of the response. The time for its body is not limited: read it in a task
    ///     that you cancel, or collect it with your own limit.
    ///   - logger: gets redirects and refusals, and is passed on to AsyncHTTPClient.
    /// - Returns: the response, whose body is streamed. Read it to its end or release it.
    /// - Throws: `TrustFailure`, ``PinnedHTTPClientError``, and AsyncHTTPClient's errors, including cancellation.
    @concurrent
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        try await execute(request, deadline: .now() + timeout, logger: logger)
    }

    private func send(
        _ request: HTTPClientRequest, to target: RequestTarget, deadline: NIODeadline, logger: Logger?
    ) async throws -> HTTPClientResponse {
        do {
            return try await sendUnlogged(request, to: target, deadline: deadline, logger: logger)
        } catch let failure as TrustFailure {
            logger?.warning(
                "the server is not trusted",
                metadata: ["host": "\(target.origin.host)", "reason": "\(failure.code.rawValue)"])
            throw failure
        }
    }

    private func sendUnlogged(
        _ request: HTTPClientRequest, to target: RequestTarget, deadline: NIODeadline, logger: Logger?
    ) async throws -> HTTPClientResponse {
        let start = NIODeadline.now()
        for _ in 0..<Self.mostTurns {
            do {
                return try await sendOnce(request, to: target, begun: start, deadline: deadline, logger: logger)
            } catch is ConnectionRetired {
                // No part of the request was sent, and no part of its body was requested.
                try Task.checkCancellation()
            }
        }
        throw PinnedHTTPClientError(
            .connectionsRetired, expected: "a connection that lasts until the request is on it",
            found: "\(Self.mostTurns) that were to carry no further request",
            remedy: "Do not replace the host's policy without a pause, and keep limits.evidenceLifetime above a minute."
        )
    }

    /// Maximum number of attempts of a request to get a connection. A connection may be retired while the request
    /// waits. If that happens repeatedly, policies, anchors or evidence end faster than requests begin.
    private static let mostTurns = 16

    private func sendOnce(
        _ request: HTTPClientRequest, to target: RequestTarget, begun: NIODeadline, deadline: NIODeadline,
        logger: Logger?
    ) async throws -> HTTPClientResponse {
        var look = try evaluator.look(at: target.origin)
        if let policy = look.policy?.inNeedOfPreparation {
            try await prepare(policy, deadline: deadline)
            look = try evaluator.look(at: target.origin)
        }
        if let tls = request.tlsConfiguration { try clients.maker.check(tls) }
        let key = OriginKey(
            origin: target.origin, tls: request.tlsConfiguration.map { OriginKey.Settings(configuration: $0) },
            localAddress: request.localAddress)
        var admission = try clients.lease(key, until: deadline)
        while case .wait(let turn, let stop) = admission {
            try await withTaskCancellationHandler {
                try await turn.get()
            } onCancel: {
                stop(HTTPClientError.cancelled)
            }
            admission = try clients.lease(key, until: deadline)
        }
        guard case .lease(let lease) = admission else { throw ConnectionRetired() }
        // The pool may pick any of its connections, so those that are refused by now must be closed first.
        let again = lease.client.gate.endWhatNoLongerHolds(under: look)
        guard again.undecided.isEmpty else {
            lease.end()
            throw ConnectionRetired()
        }
        for refused in again.refused {
            let limit = min(deadline, .now() + lease.client.endTimeout)
            guard try await refused.channel.closeFuture.value(before: limit, on: eventLoopGroup.any()) != nil else {
                lease.end()
                throw ConnectionRetired()
            }
        }
        var inner = request
        inner.url = target.text
        inner.tlsConfiguration = nil
        inner.localAddress = nil
        // Code for a connection runs on the connection's thread.
        lease.client.gate.expectConnection(under: look, on: lease.client.http.eventLoopGroup.any())
        do {
            var response = try await lease.client.http.execute(inner, deadline: deadline, logger: logger)
            response.body = .stream(TrackedBody(base: response.body, lease: lease))
            return response
        } catch let error as ConnectionRetired {
            lease.end()
            // The next attempt gets a client with new evidence.
            if lease.client.gate.hasExpired() { clients.retire { $0 === lease.client } }
            throw error
        } catch {
            // End the lease after the explanation, which needs the thread of the connection.
            defer { lease.end() }
            if let silentAt = lease.client.gate.silentAt, Self.isOfEndedClient(error) {
                guard silentAt - begun < lease.client.connectTimeout else { throw HTTPClientError.connectTimeout }
                throw ConnectionRetired()
            }
            // No part of the request was sent: the pool chose a connection that ended before the request was on it.
            // AsyncHTTPClient's error for a canceled request means the same if the request was not canceled.
            if !clients.isClosed, !Task.isCancelled,
                error as? HTTPClientError == .cancelled
                    || lease.client.gate.isRetired && (Self.isOfEndedClient(error) || Self.isOfEndedConnection(error))
            {
                throw ConnectionRetired()
            }
            if let failure = BoringSSLReason.keyUsageRefusal(error, host: target.origin.host) {
                evaluator.tell(failure, under: look)
                throw failure
            }
            guard Self.isRefusedByTLS(error), let failure = await explanation(by: lease.client, deadline: deadline)
            else { throw Self.isOfEndedConnection(error) ? HTTPClientError.remoteConnectionClosed : error }
            throw failure
        }
    }

    /// Waits until the policy is prepared or has given up; then it rejects the server with a reason.
    private func prepare(_ policy: any TrustPolicy, deadline: NIODeadline) async throws {
        let limit = min(deadline - .now(), .hours(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await policy.prepare() }
            group.addTask { try? await Task.sleep(for: .nanoseconds(limit.nanoseconds)) }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    /// AsyncHTTPClient's errors for requests of a client that is shut down.
    private static func isOfEndedClient(_ error: any Error) -> Bool {
        guard let error = error as? HTTPClientError else { return false }
        return error == .cancelled || error == .alreadyShutdown
    }

    /// NIO's errors for a request whose connection ended after the pool had chosen it but before the pool was notified
    /// of the end. Their order depends on the load of the machine.
    private static func isOfEndedConnection(_ error: any Error) -> Bool { error as? ChannelError == .ioOnClosedChannel }

    private static func isRefusedByTLS(_ error: any Error) -> Bool {
        if error is NIOSSLExtraError { return true }
        guard case .handshakeFailed? = error as? NIOSSLError else { return false }
        return true
    }

    /// The reason; nil if the time is up or the request is canceled first.
    private func explanation(by client: OriginClient, deadline: NIODeadline) async -> TrustFailure? {
        // One handshake, with the full connect timeout.
        let limit = min(deadline, .now() + client.connectTimeout + client.endTimeout)
        let explanation = client.gate.explanation(on: client.http.eventLoopGroup.any())
        return ((try? await explanation.value(before: limit, on: eventLoopGroup.any())) ?? nil) ?? nil
    }

    // MARK: The end

    /// Ends the client as `HTTPClient.shutdown()` does: requests in flight fail, connections are closed.
    ///
    /// - Throws: AsyncHTTPClient's `alreadyShutdown` the second time.
    public func shutdown() async throws { try await shutdown(waitingAtMost: .zero) }

    /// Accepts no further requests, lets those in flight finish, and ends the client.
    ///
    /// - Parameter patience: how long to wait until responses are read to their end; then the remaining ones fail.
    /// - Throws: AsyncHTTPClient's `alreadyShutdown` the second time.
    public func shutdown(waitingAtMost patience: Duration) async throws {
        watcher.cancel()
        try await clients.shutdown(waitingAtMost: TimeAmount(patience), on: eventLoopGroup.any())
    }
}
