/// Who wants to be told, by token. Telling happens outside the lock, so a subscriber may do as it likes.
final class Subscribers<Subscriber: Sendable>: Sendable {
    private struct State {
        var next: UInt64 = 0
        var subscribers: [(token: UInt64, subscriber: Subscriber)] = []
    }

    private let state = Lock(State())

    func add(_ subscriber: Subscriber) -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.subscribers.append((state.next, subscriber))
            return state.next
        }
    }

    func remove(_ token: UInt64) {
        // What the subscriber holds may be the application's, and its `deinit` may come back here: it ends unlocked.
        _ = state.withLock { state in
            state.subscribers.firstIndex { $0.token == token }.map { state.subscribers.remove(at: $0) }
        }
    }

    /// In the order in which they came.
    var all: [Subscriber] { state.withLock { $0.subscribers.map(\.subscriber) } }
}

extension Subscribers {
    /// Everything that is told from now on, in a stream of its own. Of what its reader does not read, the latest 256
    /// events are kept.
    func stream<Event: Sendable>() -> AsyncStream<Event> where Subscriber == @Sendable (Event) -> Void {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        let token = add { continuation.yield($0) }
        continuation.onTermination = { [weak self] _ in self?.remove(token) }
        return stream
    }
}
