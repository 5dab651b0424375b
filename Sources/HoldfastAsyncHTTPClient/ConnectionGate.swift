import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOHTTP2
import NIOSSL

/// Judges every connection of one pool, before the pool has it, and ends those whose decision no longer holds.
///
/// AsyncHTTPClient hands a connection to its pool, and with it the first request, once the initialiser's future has
/// succeeded. The initialiser is told neither the host nor the chain: so a gate is for one origin, and the chain comes
/// from evidence about the leaf, the only certificate that is known of the connection.
final class ConnectionGate: Sendable {
    enum Version {
        case http1
        case http2
    }

    private struct Connection {
        let channel: any Channel
        let guarding: NIOLoopBound<any ConnectionGuard>
        /// What the server is judged by; nil without TLS.
        let chain: PresentedChain?
        var expiry: EvidenceExpiry?
        var version: TrustJudge.Version
        var timer: Scheduled<Void>?
        /// Whether it ends with the requests that are on it.
        var isDraining = false
    }

    /// What waiting for a first connection came to.
    enum Wait {
        case connected
        /// There are only connections that end with the requests on them.
        case draining
        /// There is none.
        case silent
    }

    private struct Verdict: Sendable {
        let decision: TrustDecision
        let chain: PresentedChain?
        let expiry: EvidenceExpiry?
        let version: TrustJudge.Version
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        /// Connections that are being judged; a failure refuses one.
        var judged: [ObjectIdentifier: EventLoopPromise<Void>] = [:]
        var admissions = 0
        var isRetired = false
        var silentAt: NIODeadline?

        var isConnected: Bool { connections.values.contains { !$0.isDraining } }
    }

    let origin: HTTPOrigin
    private let judge: TrustJudge
    private let evidence: EvidenceStore
    private let collector: EvidenceCollector?
    private let patience: TimeAmount
    /// Called, on an event loop, when the evidence about a connection has come to its end.
    private let expired: @Sendable (ConnectionGate) -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - collector: nil for an origin without TLS.
    ///   - patience: how long judging a connection may take, what the application does with it included.
    init(
        origin: HTTPOrigin, judge: TrustJudge, evidence: EvidenceStore, collector: EvidenceCollector?,
        patience: TimeAmount, expired: @escaping @Sendable (ConnectionGate) -> Void
    ) {
        self.origin = origin
        self.judge = judge
        self.evidence = evidence
        self.collector = collector
        self.patience = patience
        self.expired = expired
    }

    /// How many connections the pool has been given and still has.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    /// How many connections the pool has been given.
    var admissions: Int { state.withLock { $0.admissions } }

    /// When it was given up to wait for a first connection; nil where one came.
    var silentAt: NIODeadline? { state.withLock { $0.silentAt } }

    /// Whether some connection takes further requests.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    var isRetired: Bool { state.withLock { $0.isRetired } }

    /// How many handshakes for evidence were begun.
    var evidenceHandshakes: Int { collector?.handshakes ?? 0 }

    // MARK: New connections

    /// Begins to collect evidence for a connection that is about to be made, as far as is known now. So it takes no longer
    /// than the connection itself, and the request does not wait for it.
    func expectConnection(under policy: (any TrustPolicy)?, on loop: any EventLoop) {
        guard let collector, !isConnected, policy?.evidence != .nothing,
            evidence.isMissing(for: origin, anchors: judge.anchors, at: judge.clock.now)
        else { return }
        collector.readEarly(on: loop)
    }

    /// Lets a connection into the pool or fails. Called by AsyncHTTPClient on the connection's event loop.
    ///
    /// Nothing of what the server sends reaches the pool before it has the connection, and nothing ever does after a
    /// refusal, whatever the reason.
    /// - Parameter next: the application's own initialiser.
    func admit(
        _ channel: any Channel, _ version: Version, next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?
    ) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        let guarding: NIOLoopBound<any ConnectionGuard>
        do {
            guarding = try version.addGuard(to: channel) { [weak self] in
                self?.state.withLock { $0.connections[id]?.isDraining = true }
            } refusal: { [weak self] in
                self.map { $0.refusal(on: id) } ?? ConnectionRetired()
            }
        } catch {
            // A connection that has ended has lost its handlers.
            return refuse(channel, error)
        }
        let promise = channel.eventLoop.makePromise(of: Void.self)
        state.withLock { $0.judged[id] = promise }
        let timer = channel.eventLoop.scheduleTask(in: patience) { promise.fail(HTTPClientError.connectTimeout) }
        verdict(on: channel).flatMapThrowing { verdict in
            try self.settle(verdict, channel, guarding)
        }.flatMap {
            guard let next else { return channel.eventLoop.makeSucceededVoidFuture() }
            return next(channel).hop(to: channel.eventLoop)
        }.flatMapThrowing {
            // The pool learns of a close only while it has the connection: one that ended meanwhile would stay in it
            // for ever.
            guard channel.isActive, !guarding.value.hasEnded else { throw HTTPClientError.remoteConnectionClosed }
        }.cascade(to: promise)
        return promise.futureResult.map {
            self.state.withLock {
                $0.judged[id] = nil
                $0.admissions += 1
            }
            timer.cancel()
            // After whoever waits for this future has taken the connection over.
            channel.eventLoop.execute { guarding.value.open(channel) }
        }.flatMapError { error in
            self.state.withLock { _ = $0.judged.removeValue(forKey: id) }
            timer.cancel()
            guarding.value.discard()
            return self.refuse(channel, error)
        }
    }

    private func verdict(on channel: any Channel) -> EventLoopFuture<Verdict> {
        do {
            let leaf = try leaf(of: channel)
            guard let known = knownVerdict(on: leaf) else { return freshVerdict(on: leaf, channel) }
            // Later, so that what the server sent in one go with the end of its handshake counts.
            return channel.eventLoop.submit { known }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Nil without TLS.
    private func leaf(of channel: any Channel) throws -> [UInt8]? {
        guard origin.scheme == .https else { return nil }
        guard let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate() else {
            throw PinnedHTTPClientError(
                .noCertificate, expected: "a certificate of \(origin.host)", found: "none",
                remedy: "Check that the server's TLS uses certificates.")
        }
        return try certificate.toDERBytes()
    }

    private func knownVerdict(on leaf: [UInt8]?) -> Verdict? {
        let version = judge.version(for: origin.host)
        guard let leaf else {
            let decision = judge.decision(about: nil, from: origin.host)
            return Verdict(decision: decision, chain: nil, expiry: nil, version: version)
        }
        // What the leaf alone or an older chain does not do, the chain of this moment may: it is collected before anybody
        // is refused.
        let chain = PresentedChain([leaf])
        if let evidence = judge.manager.policy(for: origin.host)?.evidence, evidence <= .leaf,
            let decision = judge.trust(in: chain, from: origin.host)
        {
            return Verdict(
                decision: decision, chain: chain, expiry: self.evidence.expiry(of: decision), version: version)
        }
        guard let known = self.evidence.evidence(about: leaf, anchors: version.anchors, at: judge.clock.now),
            let decision = judge.trust(in: known.chain, from: origin.host)
        else { return nil }
        let expiry = known.expiry.atMost(decision.holdsUntil)
        return Verdict(decision: decision, chain: known.chain, expiry: expiry, version: version)
    }

    private func freshVerdict(on leaf: [UInt8]?, _ channel: any Channel) -> EventLoopFuture<Verdict> {
        // Without TLS there is nothing to collect, and what is known is always an answer.
        guard let leaf, let collector else { return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        return collector.chain(with: leaf, on: channel.eventLoop).map { chain in self.verdict(on: chain) }
    }

    private func verdict(on chain: PresentedChain) -> Verdict {
        let version = judge.version(for: origin.host)
        let decision = judge.decision(about: chain, from: origin.host)
        // A server gets another chance to present a better one.
        if !decision.isTrusted { collector?.forgetEarly() }
        let expiry =
            decision.isTrusted
            ? evidence.remember(decision, about: chain, anchors: version.anchors)
            : evidence.expiry(of: decision)
        return Verdict(decision: decision, chain: chain, expiry: expiry, version: version)
    }

    private func settle(
        _ verdict: Verdict, _ channel: any Channel, _ guarding: NIOLoopBound<any ConnectionGuard>
    ) throws {
        if let failure = verdict.decision.failure { throw failure }
        guard channel.isActive, !guarding.value.hasEnded else { throw HTTPClientError.remoteConnectionClosed }
        try register(verdict, channel, guarding)
        if let chain = verdict.chain { evidence.noteLastChain(chain, of: origin) }
        // A policy that changed while this was being decided counts.
        if let refused = judgeAgain(only: ObjectIdentifier(channel)).first { throw refused.failure }
    }

    private func register(
        _ verdict: Verdict, _ channel: any Channel, _ guarding: NIOLoopBound<any ConnectionGuard>
    ) throws {
        let id = ObjectIdentifier(channel)
        let timer = verdict.expiry.map { endTimer(until: $0, on: channel.eventLoop) }
        let isRetired = state.withLock {
            $0.connections[id] = Connection(
                channel: channel, guarding: guarding, chain: verdict.chain, expiry: verdict.expiry,
                version: verdict.version, timer: timer)
            return $0.isRetired
        }
        channel.closeFuture.whenComplete { _ in
            let connection = self.state.withLock { $0.connections.removeValue(forKey: id) }
            connection?.timer?.cancel()
        }
        if isRetired { throw ConnectionRetired() }
    }

    private func endTimer(until expiry: EvidenceExpiry, on loop: any EventLoop) -> Scheduled<Void> {
        loop.scheduleTask(in: expiry.remaining(at: judge.clock.now)) { [weak self] in
            if let self, self.hasExpired() { self.expired(self) }
        }
    }

    /// The one form of refusal that neither leaks the socket nor stops the process: the pool takes a failed initialiser
    /// for a connection that never was and does not close it; and it does not survive one that reports its own end
    /// after the failure. So the channel is closed first, and the failure comes when it is.
    private func refuse(_ channel: any Channel, _ error: any Error) -> EventLoopFuture<Void> {
        // Later, since BoringSSL may be at work further down in this stack and must not be entered again.
        channel.eventLoop.execute { channel.closeBelowTLS() }
        return channel.closeFuture.flatMapThrowing { throw error }
    }

    // MARK: Requests

    /// Why a request must not go out on a connection; nil when it may. On the connection's event loop, when the pool
    /// has handed it a request, which may have waited for long.
    private func refusal(on id: ObjectIdentifier) -> (any Error)? {
        let version = judge.version(for: origin.host)
        if standing(of: id, version) == .expired { renewEvidence(only: id) }
        switch standing(of: id, version) {
        case .good: return nil
        case .outdated where endWhatNoLongerHolds(only: id).isEmpty: return nil
        case .outdated, .expired, .gone: return ConnectionRetired()
        }
    }

    private enum Standing {
        case good
        /// It was judged under other policies or anchors.
        case outdated
        case expired
        case gone
    }

    private func standing(of id: ObjectIdentifier, _ version: TrustJudge.Version) -> Standing {
        let now = judge.clock.now
        return state.withLock { state in
            guard !state.isRetired, let connection = state.connections[id] else { return .gone }
            guard !(connection.expiry?.isPast(at: now) ?? false) else { return .expired }
            return connection.version == version ? .good : .outdated
        }
    }

    /// Lets a request have a stream or turns it away. Called by AsyncHTTPClient on the connection's event loop, before
    /// it hands the request to the stream.
    /// - Parameter next: the application's own initialiser.
    func admit(
        stream: any Channel, next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?
    ) -> EventLoopFuture<Void> {
        let channel = stream.parent
        let id = channel.map { ObjectIdentifier($0) }
        let guarding = state.withLock { state in id.flatMap { state.connections[$0]?.guarding } }
        let error = id.map { refusal(on: $0) } ?? ConnectionRetired()
        do {
            // Turned away by a handler: AsyncHTTPClient stops the process when a stream's initialiser fails.
            let pipeline = stream.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            try pipeline.addHandler(RequestGuard(.stream) { error }, position: .after(codec))
        } catch {
            return stream.eventLoop.makeFailedFuture(error)
        }
        if let channel, error == nil { (guarding?.value as? FrameGuard)?.give(stream, on: channel) }
        if let channel, error != nil { guarding?.value.drain(channel) }
        guard error == nil, let next else { return stream.eventLoop.makeSucceededVoidFuture() }
        return next(stream)
    }

    // MARK: Connections in the pool

    /// Whether evidence about some connection is no longer to be used, although it was judged anew.
    func hasExpired() -> Bool {
        renewEvidence()
        let now = judge.clock.now
        return state.withLock { $0.connections.values.contains { $0.expiry?.isPast(at: now) ?? false } }
    }

    /// Judges connections anew whose evidence has come to its end. No handshake could add to it: the connection's own has
    /// proved the key, and the chain is as good as it was, if it is still trusted at this time.
    /// - Parameter id: one connection; nil for all.
    private func renewEvidence(only id: ObjectIdentifier? = nil) {
        let now = judge.clock.now
        let over = state.withLock { state in
            state.connections.filter { (id == nil || $0.key == id) && $0.value.expiry?.isPast(at: now) ?? false }
        }
        for (id, connection) in over {
            // Outside the lock: this asks the policy, which may be the application's code.
            guard let chain = connection.chain, let decision = judge.trust(in: chain, from: origin.host) else {
                continue
            }
            let expiry =
                chain.certificates.count > 1
                ? evidence.remember(decision, about: chain, anchors: judge.anchors)
                : evidence.expiry(of: decision)
            guard !expiry.isPast(at: now) else { continue }
            let timer = endTimer(until: expiry, on: connection.channel.eventLoop)
            let isGone = state.withLock { state in
                state.connections[id]?.timer?.cancel()
                state.connections[id]?.expiry = expiry
                state.connections[id]?.timer = timer
                return state.connections[id] == nil
            }
            if isGone { timer.cancel() }
        }
    }

    /// Judges connections again that were let in under other policies or anchors, and closes those that are refused.
    /// - Parameter id: one connection; nil for all.
    /// - Returns: the connections that were refused.
    @discardableResult
    func endWhatNoLongerHolds(only id: ObjectIdentifier? = nil) -> [(channel: any Channel, failure: TrustFailure)] {
        let refused = judgeAgain(only: id)
        for (channel, _) in refused { channel.eventLoop.execute { channel.closeBelowTLS() } }
        return refused
    }

    private func judgeAgain(only id: ObjectIdentifier?) -> [(channel: any Channel, failure: TrustFailure)] {
        let version = judge.version(for: origin.host)
        let stale = state.withLock { state in
            state.connections.filter { $0.value.version != version && (id == nil || $0.key == id) }
        }
        var refused: [(channel: any Channel, failure: TrustFailure)] = []
        for (key, connection) in stale {
            // Outside the lock: this asks the policy, which may be the application's code.
            let decision = judge.decision(about: connection.chain, from: origin.host)
            if let failure = decision.failure {
                refused.append((connection.channel, failure))
            } else {
                state.withLock {
                    $0.connections[key]?.version = version
                    $0.connections[key]?.expiry = connection.expiry?.atMost(decision.holdsUntil)
                }
            }
        }
        return refused
    }

    /// Gives up waiting for a connection, unless there is one or another was let in meanwhile: then no request starts
    /// any more, and the rest of ``retire()`` is due.
    /// - Parameter admissions: how many connections had been let in when the wait began.
    func giveUp(since admissions: Int, at time: NIODeadline) -> Wait {
        state.withLock { state in
            guard state.admissions == admissions, !state.isConnected else { return .connected }
            // At once: a request that started after this would be sent again.
            state.isRetired = true
            guard state.connections.isEmpty else { return .draining }
            state.silentAt = time
            return .silent
        }
    }

    /// Lets no request start on any connection, and no connection in, from now on; requests that are under way go on.
    func retire() {
        let (connections, judged) = state.withLock { state in
            state.isRetired = true
            return (Array(state.connections.values), Array(state.judged.values))
        }
        for promise in judged { promise.fail(ConnectionRetired()) }
        for connection in connections {
            connection.channel.eventLoop.execute { connection.guarding.value.drain(connection.channel) }
        }
    }

    /// Ends every connection, with a goodbye, and what is being collected for others. AsyncHTTPClient does so as well,
    /// but waits for ever for one that it holds for closing already.
    func endAll() {
        collector?.stop()
        retire()
        for connection in state.withLock({ Array($0.connections.values) }) { connection.channel.close(promise: nil) }
    }

    // MARK: Explanations

    /// Finds out why BoringSSL refused the server on a connection of the pool, which it does not say.
    /// - Returns: the policy's own reason; nil when there is none, or the server does not answer again.
    func explanation(on loop: any EventLoop) -> EventLoopFuture<TrustFailure?> {
        guard let collector else { return loop.makeSucceededFuture(nil) }
        let chain = collector.chain(on: loop)
        collector.forgetEarly()
        return chain.map { self.judge.refusal(of: $0, from: self.origin.host) }.flatMapErrorThrowing { _ in nil }
    }
}
