import AsyncHTTPClient
import Holdfast
import NIOCore

// The retirement of clients, and afterward of their threads.
extension OriginClients {
    /// AsyncHTTPClient lets every request wait for a connection that was opened, even if its server never sends the
    /// beginning of HTTP/2. Requests that have waited for less than the connect timeout, and later ones, get another
    /// client, and with it a new connection.
    func retireIfSilent(_ client: OriginClient, since admissions: Int, due: NIODeadline) {
        let wait = state.withLock { state in
            let id = ObjectIdentifier(client)
            state.entries[id]?.startTimer = nil
            guard state.current[client.key] === client else { return ConnectionGate.Wait.connected }
            let wait = client.gate.giveUp(since: admissions, at: due)
            if wait != .connected {
                state.current[client.key] = nil
            } else if state.requests(of: client) > 0, !client.gate.isConnected {
                // A connection was made and is about to end; the next one may be silent.
                state.entries[id]?.startTimer = startTimer(for: client)
            }
            return wait
        }
        switch wait {
        case .connected: break
        // AsyncHTTPClient fails waiting requests itself, after the connect timeout of each.
        case .draining: finish(client)
        case .silent:
            client.gate.retire()
            // End the client with its requests: none of them has a connection.
            if let client = state.withLock({ $0.shutdownIfIdle(client, isForced: true) }) { shutDown(client) }
        }
    }

    /// Takes clients out of use: they get no further requests, and end after those in flight.
    func retire(where condition: (OriginClient) -> Bool) {
        let retired = state.withLock { state in
            let retired = state.current.values.filter(condition)
            for client in retired { state.current[client.key] = nil }
            return retired
        }
        retired.forEach(finish)
    }

    /// Ends a client that is no longer in use, as soon as it has no requests.
    func finish(_ client: OriginClient) {
        client.gate.retire()
        if let idle = state.withLock({ $0.shutdownIfIdle(client) }) { shutDown(idle) }
    }

    /// Ends a client whose thread is held, and releases the thread.
    func shutDown(_ client: OriginClient) {
        let timer = loops.any().scheduleTask(in: client.endTimeout) { self.endLane(of: client) }
        client.http.shutdown { _ in
            timer.cancel()
            self.hasEnded(client)
        }
        client.gate.endAll()
        state.withLock { $0.release(client.lane) }
        endUnusedLanes()
    }

    private func hasEnded(_ client: OriginClient) {
        let woken = state.withLock { state in
            let id = ObjectIdentifier(client)
            state.entries[id]?.hasEnded = true
            state.forgetIfGone(id)
            return state.wakeWhereThereIsRoom() + state.takeGoneWaiters()
        }
        for promise in woken { promise.succeed() }
        endUnusedLanes()
    }

    // MARK: Lanes

    /// Ends the thread of a client with a silent connection, as soon as it has no requests. The other clients on it are
    /// retired; their requests continue, and the next ones get clients on another thread.
    private func endLane(of client: OriginClient) {
        let (retired, woken) = state.withLock { state -> ([OriginClient], [EventLoopPromise<Void>]) in
            let id = ObjectIdentifier(client)
            guard let entry = state.entries[id], !entry.hasEnded else { return ([], []) }
            state.markStuck(id)
            return (state.condemn(client.lane), state.takeGoneWaiters())
        }
        retired.forEach(finish)
        for promise in woken { promise.succeed() }
        endUnusedLanes()
    }

    func endUnusedLanes(isForced: Bool = false) {
        for (lane, isEmpty) in state.withLock({ $0.takeUnusedLanes(isForced: isForced) }) {
            if isEmpty { lane.leave() } else { lane.end { self.wakeWaiters { $0.forget(lane) } } }
        }
    }
}
