import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore
import NIOHTTP2

// The events of pooled connections: requests begin on them, and their evidence expires or changes.
extension ConnectionGate {
    // MARK: Requests

    /// The reason why a request must not be sent on a connection; nil if it may. Call it on the connection's event loop
    /// when the pool has assigned a request, which may have waited for a long time.
    func refusal(on id: ObjectIdentifier) -> (any Error)? {
        let look = evaluator.look(at: origin.host)
        if standing(of: id, look.version) == .expired { renewEvidence(only: id, under: look) }
        switch standing(of: id, look.version) {
        case .good: return nil
        case .outdated where endWhatNoLongerHolds(only: id, under: look).isNothing: return nil
        case .outdated, .expired, .gone: return ConnectionRetired()
        }
    }

    private enum Standing {
        case good
        /// It was evaluated under other policies or anchors.
        case outdated
        case expired
        case gone
    }

    private func standing(of id: ObjectIdentifier, _ version: TrustEvaluator.Version) -> Standing {
        let now = evaluator.clock.now
        return state.withLock { state in
            guard !state.isRetired, let connection = state.connections[id], !connection.awaitsEvidence else {
                return .gone
            }
            guard !(connection.verdict.expiry?.isPast(at: now) ?? false) else { return .expired }
            return connection.verdict.evaluation.version == version ? .good : .outdated
        }
    }

    /// Gives a request a stream or turns it away. Called by AsyncHTTPClient on the connection's event loop, before it
    /// hands the request to the stream.
    /// - Parameter next: the application's own initializer.
    func admit(
        stream: any Channel, next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?
    ) -> EventLoopFuture<Void> {
        let channel = stream.parent
        let id = channel.map { ObjectIdentifier($0) }
        let guarding = state.withLock { state in id.flatMap { state.connections[$0]?.guarding } }
        let error = id.map { refusal(on: $0) } ?? ConnectionRetired()
        do {
            // A handler turns the request away, because AsyncHTTPClient stops the process if a stream's initializer
            // fails.
            let pipeline = stream.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            let frames = guarding?.value as? FrameGuard
            let added = RequestGuard(.stream) {
                error
            } malformationOfStream: {
                frames?.malformation(of: $0)
            }
            try pipeline.addHandler(added, position: .after(codec))
        } catch {
            return stream.eventLoop.makeFailedFuture(error)
        }
        if let channel, error == nil { (guarding?.value as? FrameGuard)?.give(stream, on: channel) }
        if let channel, error != nil { guarding?.value.drain(channel) }
        guard error == nil, let next else { return stream.eventLoop.makeSucceededVoidFuture() }
        return next(stream)
    }

    // MARK: Evidence that ends

    func endTimer(until expiry: EvidenceExpiry, on loop: any EventLoop) -> Scheduled<Void> {
        loop.scheduleTask(in: expiry.remaining(at: evaluator.clock.now)) { [weak self] in
            if let self, self.hasExpired() { self.expired(self) }
        }
    }

    /// Whether evidence about a connection is unusable although it was evaluated again.
    func hasExpired() -> Bool {
        renewEvidence(under: evaluator.look(at: origin.host))
        let now = evaluator.clock.now
        return state.withLock { $0.connections.values.contains { $0.verdict.expiry?.isPast(at: now) ?? false } }
    }

    /// Evaluates connections again whose evidence has expired. Another handshake would add nothing: the connection's
    /// own has proved the key, and the chain is still good if it is trusted at this time.
    /// - Parameter id: one connection; nil for all.
    private func renewEvidence(only id: ObjectIdentifier? = nil, under look: TrustEvaluator.Look) {
        let now = evaluator.clock.now
        let over = state.withLock { state in
            state.connections.filter {
                (id == nil || $0.key == id) && $0.value.verdict.expiry?.isPast(at: now) ?? false
            }
        }
        for (id, connection) in over {
            // Outside the lock, because the policy may be the application's code.
            guard let chain = connection.verdict.chain, let evaluation = evaluator.trust(in: chain, under: look) else {
                continue
            }
            let expiry =
                connection.verdict.isWholeChain
                ? evidence.remember(evaluation.decision, about: chain, anchors: look.anchors)
                : evidence.expiry(of: evaluation.decision)
            guard !expiry.isPast(at: now) else { continue }
            let timer = endTimer(until: expiry, on: connection.channel.eventLoop)
            let isGone = state.withLock { state in
                state.connections[id]?.timer?.cancel()
                state.connections[id]?.verdict.expiry = expiry
                state.connections[id]?.timer = timer
                return state.connections[id] == nil
            }
            if isGone { timer.cancel() }
        }
    }

    // MARK: Policies and anchors that change

    /// The result of evaluating connections again.
    struct Reevaluation {
        var refused: [(channel: any Channel, failure: TrustFailure)] = []
        /// Connections that were trusted by their leaf alone, but for which the current policy needs the chain.
        var undecided: [(id: ObjectIdentifier, channel: any Channel, leaf: [UInt8])] = []

        var isNothing: Bool { refused.isEmpty && undecided.isEmpty }
    }

    /// Evaluates connections again that were admitted under other policies or anchors, and closes those that are
    /// refused. If one needs more evidence, no further request begins on any; requests under way continue meanwhile.
    /// - Parameter id: one connection; nil for all.
    @discardableResult
    func endWhatNoLongerHolds(only id: ObjectIdentifier? = nil, under look: TrustEvaluator.Look) -> Reevaluation {
        let again = evaluateAgain(only: id, under: look)
        for (channel, _) in again.refused { channel.closeBelowTLSLater() }
        if !again.undecided.isEmpty { expired(self) }
        for (id, channel, leaf) in again.undecided { collectEvidence(about: leaf, of: id, channel) }
        return again
    }

    func evaluateAgain(only id: ObjectIdentifier?, under look: TrustEvaluator.Look) -> Reevaluation {
        let version = look.version
        let stale = state.withLock { state in
            state.connections.filter {
                $0.value.verdict.evaluation.version != version && !$0.value.awaitsEvidence
                    && (id == nil || $0.key == id)
            }
        }
        var again = Reevaluation()
        for (key, connection) in stale {
            // Outside the lock, because the policy may be the application's code.
            guard let verdict = renewed(connection.verdict, under: look) else {
                state.withLock { $0.connections[key]?.awaitsEvidence = true }
                again.undecided.append((key, connection.channel, connection.verdict.chain?.leaf ?? []))
                continue
            }
            if let failure = verdict.decision.failure {
                again.refused.append((connection.channel, failure))
            } else {
                state.withLock { $0.connections[key]?.verdict = verdict }
            }
        }
        return again
    }

    /// The verdict by the known evidence; nil if the leaf alone no longer suffices and its chain is unknown.
    private func renewed(_ old: Verdict, under look: TrustEvaluator.Look) -> Verdict? {
        var verdict = old
        if old.isWholeChain {
            verdict.evaluation = evaluator.evaluation(of: old.chain, under: look)
        } else {
            guard let leaf = old.chain?.leaf, let known = knownTrust(in: leaf, under: look) else { return nil }
            verdict = known
        }
        verdict.expiry = old.expiry?.atMost(verdict.decision.holdsUntil)
        return verdict
    }

    /// Gets the rest of the server's chain, and closes the connection unless it is trusted.
    private func collectEvidence(about leaf: [UInt8], of id: ObjectIdentifier, _ channel: any Channel) {
        guard let collector else { return channel.closeBelowTLS() }
        collector.chain(with: leaf, on: channel.eventLoop).whenComplete { result in
            let verdict = (try? result.get()).map {
                self.verdict(on: $0, under: self.evaluator.look(at: self.origin.host))
            }
            guard let verdict, verdict.decision.isTrusted else { return channel.closeBelowTLS() }
            self.state.withLock { state in
                state.connections[id]?.verdict = verdict
                state.connections[id]?.awaitsEvidence = false
            }
        }
    }

    // MARK: The end

    /// Gives up waiting for a connection, unless one exists or another was admitted meanwhile. After that no request
    /// starts, and ``retire()`` has to do the rest.
    /// - Parameter admissions: the number of admitted connections when the wait began.
    func giveUp(since admissions: Int, at time: NIODeadline) -> Wait {
        state.withLock { state in
            guard state.admissions == admissions, !state.isConnected else { return .connected }
            // Mark it at once, because a request that starts later would have to be sent again.
            state.isRetired = true
            guard state.connections.isEmpty else { return .draining }
            state.silentAt = time
            return .silent
        }
    }

    /// From now on, no request starts on any connection and no connection is admitted; requests under way continue.
    func retire() {
        let (connections, evaluated) = state.withLock { state in
            state.isRetired = true
            return (Array(state.connections.values), Array(state.evaluated.values))
        }
        for promise in evaluated { promise.fail(ConnectionRetired()) }
        for connection in connections {
            connection.channel.eventLoop.execute { connection.guarding.value.drain(connection.channel) }
        }
    }

    /// Ends every connection gracefully, and the collection of evidence for others. AsyncHTTPClient does so too, but
    /// waits forever for a connection that it believes to be closing.
    func endAll() {
        collector?.stop()
        retire()
        for connection in state.withLock({ Array($0.connections.values) }) { connection.channel.close(promise: nil) }
    }
}
