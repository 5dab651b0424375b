import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
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
        /// What the server is judged by; nil without TLS.
        let chain: PresentedChain?
        var expiry: EvidenceExpiry?
        var version: TrustJudge.Version
        var timer: Scheduled<Void>?
    }

    private struct Verdict: Sendable {
        let decision: TrustDecision
        let chain: PresentedChain?
        let expiry: EvidenceExpiry?
        let version: TrustJudge.Version
    }

    let origin: HTTPOrigin
    private let judge: TrustJudge
    private let evidence: EvidenceStore
    private let collector: EvidenceCollector?
    /// Called, on an event loop, when the evidence about a connection has come to its end.
    private let expired: @Sendable (ConnectionGate) -> Void
    private let connections = Lock<[ObjectIdentifier: Connection]>([:])

    /// - Parameter collector: nil for an origin without TLS.
    init(
        origin: HTTPOrigin, judge: TrustJudge, evidence: EvidenceStore, collector: EvidenceCollector?,
        expired: @escaping @Sendable (ConnectionGate) -> Void
    ) {
        self.origin = origin
        self.judge = judge
        self.evidence = evidence
        self.collector = collector
        self.expired = expired
    }

    /// How many connections the pool has been given and still has.
    var connectionCount: Int { connections.withLock { $0.count } }

    /// How many handshakes for evidence were begun.
    var evidenceHandshakes: Int { collector?.handshakes ?? 0 }

    // MARK: New connections

    /// Begins to collect evidence for a connection that is about to be made, as far as is known now. So it takes no longer
    /// than the connection itself, and the request does not wait for it.
    func expectConnection(under policy: (any TrustPolicy)?, on loop: any EventLoop) {
        guard let collector, connectionCount == 0, policy?.evidence != .nothing,
            evidence.isMissing(for: origin, anchors: judge.anchors, at: judge.clock.now)
        else { return }
        collector.readEarly(on: loop)
    }

    /// Lets a connection into the pool or fails. Called by AsyncHTTPClient on the connection's event loop.
    /// - Parameter next: the application's own initialiser.
    func admit(
        _ channel: any Channel, _ version: Version, next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?
    ) -> EventLoopFuture<Void> {
        do {
            let leaf = try leaf(of: channel)
            // What is known is decided at once; then the frames behind this one find the pool prepared.
            let known = knownVerdict(on: leaf)
            if let known, next == nil { return settle(known, channel) }
            let hold = version == .http2 ? try FrameHold.add(to: channel) : nil
            let verdict = known.map { channel.eventLoop.makeSucceededFuture($0) } ?? freshVerdict(on: leaf, channel)
            let admitted = verdict.flatMap { verdict in
                if let hold, hold.value.sawGoodbye {
                    return self.refuse(channel, verdict.decision.failure ?? HTTPClientError.remoteConnectionClosed)
                }
                return self.settle(verdict, channel)
            }.flatMap {
                guard let next else { return channel.eventLoop.makeSucceededVoidFuture() }
                return next(channel).hop(to: channel.eventLoop).flatMapThrowing {
                    guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                }
            }.flatMapError { self.refuse(channel, $0) }
            guard let hold else { return admitted }
            admitted.whenComplete { result in
                guard case .success = result else { return hold.value.discard() }
                // After whoever waits for this future has taken the connection over.
                channel.eventLoop.execute { hold.value.release(on: channel) }
            }
            return admitted
        } catch {
            return refuse(channel, error)
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
                decision: decision, chain: chain, expiry: self.evidence.expiry(of: decision, about: chain),
                version: version)
        }
        guard let known = self.evidence.evidence(about: leaf, anchors: version.anchors, at: judge.clock.now),
            let decision = judge.trust(in: known.chain, from: origin.host)
        else { return nil }
        return Verdict(decision: decision, chain: known.chain, expiry: known.expiry, version: version)
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
            : evidence.expiry(of: decision, about: chain)
        return Verdict(decision: decision, chain: chain, expiry: expiry, version: version)
    }

    private func settle(_ verdict: Verdict, _ channel: any Channel) -> EventLoopFuture<Void> {
        if let failure = verdict.decision.failure { return refuse(channel, failure) }
        // The pool learns of a close only while it has the connection: one that ended meanwhile would stay in it for
        // ever.
        guard channel.isActive else { return refuse(channel, HTTPClientError.remoteConnectionClosed) }
        register(verdict, channel)
        if let chain = verdict.chain { evidence.noteLastChain(chain, of: origin) }
        // A policy that changed while this was being decided counts.
        if let refused = endWhatNoLongerHolds(only: ObjectIdentifier(channel)).first {
            return refuse(channel, refused.failure)
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    private func register(_ verdict: Verdict, _ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let timer = verdict.expiry.map { endTimer(until: $0, on: channel.eventLoop) }
        connections.withLock {
            $0[id] = Connection(
                channel: channel, chain: verdict.chain, expiry: verdict.expiry, version: verdict.version, timer: timer)
        }
        channel.closeFuture.whenComplete { _ in
            let connection = self.connections.withLock { $0.removeValue(forKey: id) }
            connection?.timer?.cancel()
        }
    }

    private func endTimer(until expiry: EvidenceExpiry, on loop: any EventLoop) -> Scheduled<Void> {
        loop.scheduleTask(in: expiry.remaining(at: judge.clock.now)) { [weak self] in
            if let self, self.hasExpired() { self.expired(self) }
        }
    }

    /// The one form of refusal that neither leaks the socket nor stops the process: the pool takes a failed initialiser
    /// for a connection that never was and does not close it; and it does not survive one that reports its own end
    /// after the failure. So the channel is closed first, and the failure comes when it is.
    private func refuse<Value: Sendable>(_ channel: any Channel, _ error: any Error) -> EventLoopFuture<Value> {
        // Later, since BoringSSL may be at work further down in this stack and must not be entered again.
        channel.eventLoop.execute { channel.closeBelowTLS() }
        return channel.closeFuture.flatMapThrowing { throw error }
    }

    // MARK: Connections in the pool

    /// Whether evidence about some connection is no longer to be used, although it was judged anew.
    func hasExpired() -> Bool {
        renewEvidence()
        let now = judge.clock.now
        return connections.withLock { $0.values.contains { $0.expiry?.isPast(at: now) ?? false } }
    }

    /// Judges the connections anew whose evidence has come to its end. No handshake could add to it: the connection's own
    /// has proved the key, and the chain is as good as it was, if it is still trusted at this time.
    private func renewEvidence() {
        let now = judge.clock.now
        let over = connections.withLock { $0.filter { $0.value.expiry?.isPast(at: now) ?? false } }
        for (id, connection) in over {
            // Outside the lock: this asks the policy, which may be the application's code.
            guard let chain = connection.chain, let decision = judge.trust(in: chain, from: origin.host) else { continue }
            let expiry =
                chain.certificates.count > 1
                ? evidence.remember(decision, about: chain, anchors: judge.anchors)
                : evidence.expiry(of: decision, about: chain)
            guard !expiry.isPast(at: now) else { continue }
            let timer = endTimer(until: expiry, on: connection.channel.eventLoop)
            let isGone = connections.withLock { connections in
                connections[id]?.timer?.cancel()
                connections[id]?.expiry = expiry
                connections[id]?.timer = timer
                return connections[id] == nil
            }
            if isGone { timer.cancel() }
        }
    }

    /// Judges connections again that were let in under other policies or anchors, and closes those that are refused.
    /// - Parameter id: a connection of which the caller will dispose; nil for all.
    /// - Returns: the connections that were refused.
    @discardableResult
    func endWhatNoLongerHolds(only id: ObjectIdentifier? = nil) -> [(channel: any Channel, failure: TrustFailure)] {
        let version = judge.version(for: origin.host)
        let stale = connections.withLock { connections in
            connections.filter { $0.value.version != version && (id == nil || $0.key == id) }
        }
        var refused: [(channel: any Channel, failure: TrustFailure)] = []
        for (key, connection) in stale {
            // Outside the lock: this asks the policy, which may be the application's code.
            let decision = judge.decision(about: connection.chain, from: origin.host)
            if let failure = decision.failure {
                refused.append((connection.channel, failure))
                let channel = connection.channel
                if id == nil { channel.eventLoop.execute { channel.closeBelowTLS() } }
            } else {
                connections.withLock { $0[key]?.version = version }
            }
        }
        return refused
    }

    /// Ends every connection, with a goodbye, and what is being collected for others. AsyncHTTPClient does so as well, but waits for ever for one that it
    /// holds for closing already.
    func endAll() {
        collector?.stop()
        for connection in connections.withLock({ Array($0.values) }) { connection.channel.close(promise: nil) }
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
