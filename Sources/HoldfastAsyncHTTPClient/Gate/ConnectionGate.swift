import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore
import NIOSSL

/// Evaluates every connection of one pool before the pool gets it, and ends those whose decision is no longer valid.
///
/// AsyncHTTPClient hands a connection to its pool, and with it the first request, once the initializer's future has
/// succeeded. The initializer gets neither the host nor the chain: so a gate is for one origin, and the chain comes
/// from evidence about the leaf, the connection's only known certificate.
final class ConnectionGate: Sendable {
    struct Connection {
        let channel: any Channel
        let guarding: NIOLoopBound<any ConnectionGuard>
        var verdict: Verdict
        var timer: Scheduled<Void>?
        /// Whether it ends with its current requests.
        var isDraining = false
        /// Whether evidence for the new policy is being collected.
        var awaitsEvidence = false
    }

    /// The result of waiting for a first connection.
    enum Wait {
        case connected
        /// All connections end with their current requests.
        case draining
        /// No connection exists.
        case silent
    }

    /// The decision about a connection, with its evidence, its policies and its expiry.
    struct Verdict: Sendable {
        var evaluation: TrustEvaluator.Evaluation
        /// The evidence about the server; nil without TLS.
        let chain: PresentedChain?
        /// Whether the chain is all that the server presents, and not the connection's own leaf alone.
        let isWholeChain: Bool
        var expiry: EvidenceExpiry?

        var decision: TrustDecision { evaluation.decision }
    }

    struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        /// Connections that are being evaluated; a failure refuses one.
        var evaluated: [ObjectIdentifier: EventLoopPromise<Void>] = [:]
        var admissions = 0
        var isRetired = false
        var silentAt: NIODeadline?

        var isConnected: Bool { connections.values.contains { !$0.isDraining } }
    }

    let origin: HTTPOrigin
    let evaluator: TrustEvaluator
    let evidence: EvidenceStore
    let collector: EvidenceCollector?
    private let patience: TimeAmount
    /// Called when the pool has got a connection.
    private let answered: @Sendable () -> Void
    /// Called when no further request must begin on the connections, because the evidence about one of them has expired
    /// or is insufficient for a new policy.
    let expired: @Sendable (ConnectionGate) -> Void
    let state = Lock(State())

    /// - Parameters:
    ///   - collector: nil for an origin without TLS.
    ///   - patience: the time limit for evaluating a connection, including the application's initializer.
    init(
        origin: HTTPOrigin, evaluator: TrustEvaluator, evidence: EvidenceStore, collector: EvidenceCollector?,
        patience: TimeAmount, answered: @escaping @Sendable () -> Void,
        expired: @escaping @Sendable (ConnectionGate) -> Void
    ) {
        self.origin = origin
        self.evaluator = evaluator
        self.evidence = evidence
        self.collector = collector
        self.patience = patience
        self.answered = answered
        self.expired = expired
    }

    /// The number of connections that the pool has got.
    var admissions: Int { state.withLock { $0.admissions } }

    /// The time at which waiting for a first connection was given up; nil if one came.
    var silentAt: NIODeadline? { state.withLock { $0.silentAt } }

    /// Whether some connection takes further requests.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    var isRetired: Bool { state.withLock { $0.isRetired } }

    // MARK: New connections

    /// Begins to collect evidence for a connection that is about to be made, so that both take place at the same time
    /// and the request does not wait for the evidence.
    func expectConnection(under look: TrustEvaluator.Look, on loop: any EventLoop) {
        guard let collector, !isConnected, look.policy?.evidence != .nothing,
            evidence.isMissing(for: origin, anchors: look.anchors, at: evaluator.clock.now)
        else { return }
        collector.readEarly(on: loop)
    }

    /// Admits a connection to the pool or fails. Called by AsyncHTTPClient on the connection's event loop.
    ///
    /// No data of the server reaches the pool before the pool has the connection, and none ever does after a refusal,
    /// whatever the reason.
    /// - Parameter next: the application's own initializer.
    func admit(
        _ channel: any Channel, _ spoken: ConnectionProtocol, next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?
    ) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        let guarding: NIOLoopBound<any ConnectionGuard>
        do {
            guarding = try spoken.addGuard(to: channel) { [weak self] in
                self?.state.withLock { $0.connections[id]?.isDraining = true }
            } refusal: { [weak self] in
                self.map { $0.refusal(on: id) } ?? ConnectionRetired()
            }
        } catch {
            // A connection that has ended has lost its handlers.
            return refuse(channel, error)
        }
        let promise = channel.eventLoop.makePromise(of: Void.self)
        state.withLock { $0.evaluated[id] = promise }
        promise.fail(HTTPClientError.connectTimeout, after: patience)
        verdict(on: channel).flatMapThrowing { verdict, look in
            try self.settle(verdict, under: look, channel, guarding)
        }.flatMap {
            guard let next else { return channel.eventLoop.makeSucceededVoidFuture() }
            return next(channel).hop(to: channel.eventLoop)
        }.flatMapThrowing {
            // The pool is notified of a close only while it has the connection: one that ended meanwhile would stay in
            // it forever.
            guard channel.isActive, !guarding.value.hasEnded else { throw guarding.value.ending }
        }.cascade(to: promise)
        return promise.futureResult.map {
            self.state.withLock {
                $0.evaluated[id] = nil
                $0.admissions += 1
            }
            self.answered()
            // After the code that waits for this future has taken over the connection.
            channel.eventLoop.execute { guarding.value.open(channel) }
        }.flatMapError { error in
            self.state.withLock { _ = $0.evaluated.removeValue(forKey: id) }
            guarding.value.discard()
            return self.refuse(channel, error)
        }
    }

    private func verdict(on channel: any Channel) -> EventLoopFuture<(Verdict, TrustEvaluator.Look)> {
        do {
            let leaf = try leaf(of: channel)
            let look = evaluator.look(at: origin.host)
            guard let known = knownVerdict(on: leaf, under: look) else { return freshVerdict(on: leaf, channel) }
            // On the next turn of the event loop, so that data sent together with the end of the handshake is seen.
            return channel.eventLoop.submit { (known, look) }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Nil without TLS.
    func leaf(of channel: any Channel) throws -> [UInt8]? {
        guard origin.scheme == .https else { return nil }
        guard let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate() else {
            throw PinnedHTTPClientError(
                .noCertificate, expected: "a certificate of \(origin.host)", found: "none",
                remedy: "Check that the server's TLS uses certificates.")
        }
        return try certificate.toDERBytes()
    }

    private func knownVerdict(on leaf: [UInt8]?, under look: TrustEvaluator.Look) -> Verdict? {
        if let leaf { return knownTrust(in: leaf, under: look) }
        return Verdict(evaluation: evaluator.evaluation(of: nil, under: look), chain: nil, isWholeChain: true)
    }

    /// The decision to trust by the leaf alone or by an older chain. If they are not enough, the current chain may be,
    /// so it is collected before a refusal.
    func knownTrust(in leaf: [UInt8], under look: TrustEvaluator.Look) -> Verdict? {
        let chain = PresentedChain([leaf])
        if let evidence = look.policy?.evidence, evidence <= .leaf,
            let evaluation = evaluator.trust(in: chain, under: look)
        {
            return Verdict(
                evaluation: evaluation, chain: chain, isWholeChain: false,
                expiry: self.evidence.expiry(of: evaluation.decision))
        }
        guard let known = evidence.evidence(about: leaf, anchors: look.anchors, at: evaluator.clock.now),
            let evaluation = evaluator.trust(in: known.chain, under: look)
        else { return nil }
        return Verdict(
            evaluation: evaluation, chain: known.chain, isWholeChain: true,
            expiry: known.expiry.atMost(evaluation.decision.holdsUntil))
    }

    private func freshVerdict(
        on leaf: [UInt8]?, _ channel: any Channel
    ) -> EventLoopFuture<(Verdict, TrustEvaluator.Look)> {
        // Without TLS there is nothing to collect, and the known evidence is always enough.
        guard let leaf, let collector else { return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        return collector.chain(with: leaf, on: channel.eventLoop).map { chain in
            let look = self.evaluator.look(at: self.origin.host)
            return (self.verdict(on: chain, under: look), look)
        }
    }

    /// The decision about the whole chain that the server presents.
    func verdict(on chain: PresentedChain, under look: TrustEvaluator.Look) -> Verdict {
        let evaluation = evaluator.evaluation(of: chain, under: look)
        // The server gets another chance to present a better chain.
        if !evaluation.decision.isTrusted { collector?.forgetEarly() }
        let expiry = evidence.remember(evaluation.decision, about: chain, anchors: look.anchors)
        return Verdict(evaluation: evaluation, chain: chain, isWholeChain: true, expiry: expiry)
    }

    private func settle(
        _ verdict: Verdict, under look: TrustEvaluator.Look, _ channel: any Channel,
        _ guarding: NIOLoopBound<any ConnectionGuard>
    ) throws {
        if let failure = verdict.decision.failure { throw failure }
        guard channel.isActive, !guarding.value.hasEnded else { throw guarding.value.ending }
        try register(verdict, channel, guarding)
        if let chain = verdict.chain { evidence.noteLastChain(chain, of: origin) }
        // From here on, reports of changes reach the connection. Earlier changes are checked now.
        guard !evaluator.isCurrent(look) else { return }
        let again = evaluateAgain(only: ObjectIdentifier(channel), under: evaluator.look(at: origin.host))
        if let refused = again.refused.first { throw refused.failure }
        if !again.undecided.isEmpty { throw ConnectionRetired() }
    }

    private func register(
        _ verdict: Verdict, _ channel: any Channel, _ guarding: NIOLoopBound<any ConnectionGuard>
    ) throws {
        let id = ObjectIdentifier(channel)
        let timer = verdict.expiry.map { endTimer(until: $0, on: channel.eventLoop) }
        let isRetired = state.withLock {
            $0.connections[id] = Connection(channel: channel, guarding: guarding, verdict: verdict, timer: timer)
            return $0.isRetired
        }
        channel.closeFuture.whenComplete { _ in
            let connection = self.state.withLock { $0.connections.removeValue(forKey: id) }
            connection?.timer?.cancel()
        }
        if isRetired { throw ConnectionRetired() }
    }

    /// Refuses a connection in the only way that neither leaks the socket nor stops the process: the pool does not
    /// close a connection whose initializer failed, because it does not know it; and the process stops if the
    /// connection reports its own end after the failure. So the channel is closed first, and the failure follows.
    private func refuse(_ channel: any Channel, _ error: any Error) -> EventLoopFuture<Void> {
        channel.closeBelowTLSLater()
        return channel.closeFuture.flatMapThrowing { throw error }
    }

    // MARK: Explanations

    /// Finds out whether the policy refuses a server whose handshake failed: TLS itself refuses certificates that it
    /// cannot use, and gives no reason.
    /// - Returns: the policy's own reason; nil if it has none, or the server does not respond again.
    func explanation(on loop: any EventLoop) -> EventLoopFuture<TrustFailure?> {
        guard let collector else { return loop.makeSucceededFuture(nil) }
        let chain = collector.chain(on: loop)
        collector.forgetEarly()
        return chain.map { chain in
            self.evaluator.unprovedDecision(about: chain, under: self.evaluator.look(at: self.origin.host)).failure
        }.flatMapErrorThrowing { _ in nil }
    }
}
