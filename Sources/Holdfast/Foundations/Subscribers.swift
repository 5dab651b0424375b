/// Ends an observation of a ``TrustManager`` or a store. Every token is different.
public struct ObserverToken: Sendable, Hashable {
    private final class Identity: Sendable {}

    private let identity = Identity()

    /// A token is equal only to itself.
    public static func == (left: ObserverToken, right: ObserverToken) -> Bool { left.identity === right.identity }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(Swift.ObjectIdentifier(identity)) }
}

/// The subscribers, by token. They are called outside the lock, so they may call back.
package final class Subscribers<Subscriber: Sendable>: Sendable {
    private let subscribers = Lock<[(token: ObserverToken, subscriber: Subscriber)]>([])

    package init() {}

    package func add(_ subscriber: Subscriber) -> ObserverToken {
        let token = ObserverToken()
        subscribers.withLock { $0.append((token, subscriber)) }
        return token
    }

    package func remove(_ token: ObserverToken) {
        // A subscriber may own objects of the application whose `deinit` calls back here, so it is released outside the
        // lock.
        _ = subscribers.withLock { subscribers in
            subscribers.firstIndex { $0.token == token }.map { subscribers.remove(at: $0) }
        }
    }

    /// The subscribers, in the order in which they were added.
    package var all: [Subscriber] { subscribers.withLock { $0.map(\.subscriber) } }
}

extension Subscribers {
    /// A new stream of all events from now on. If its reader falls behind, the latest 256 events are kept.
    package func stream<Event: Sendable>() -> AsyncStream<Event> where Subscriber == @Sendable (Event) -> Void {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        let token = add { continuation.yield($0) }
        continuation.onTermination = { [weak self] _ in self?.remove(token) }
        return stream
    }
}
