import NIOHTTP1

/// Who answers the requests of a listener.
enum ListenerResponder: Sendable {
    /// From memory, without leaving the event loop, unless the answer says that something is waited for.
    case immediate(@Sendable (ListenerRequest) -> ListenerResponse)
    /// After waiting for something, such as the database.
    case waiting(@Sendable (ListenerRequest) async -> ListenerAnswer)
}

/// An answer, or how to get it.
enum ListenerResponse: Sendable {
    /// The answer.
    case now(ListenerAnswer)
    /// After waiting for something, such as a signer program.
    case later(@Sendable () async -> ListenerAnswer)
}

/// What a request gets that cannot be read, or is larger or slower than it may be.
typealias ListenerRefusal = @Sendable (HTTPResponseStatus, String) -> ListenerAnswer
