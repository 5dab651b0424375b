package import NIOHTTP1

/// Answers the requests of a listener.
package enum ListenerResponder: Sendable {
    /// Answers from memory on the event loop, unless the response says otherwise.
    case immediate(@Sendable (ListenerRequest) -> ListenerResponse)
    /// Answers asynchronously, for example after reading the database.
    case waiting(@Sendable (ListenerRequest) async -> ListenerAnswer)
}

/// A response, or a function that returns it later.
package enum ListenerResponse: Sendable {
    /// A response that is ready.
    case now(ListenerAnswer)
    /// A response that must be waited for, for example from a signer program.
    case later(@Sendable () async -> ListenerAnswer)
}

/// Makes the response to a request that is unreadable, too large or too slow.
package typealias ListenerRefusal = @Sendable (HTTPResponseStatus, String) -> ListenerAnswer
