import NIOHTTP1

/// Who answers the requests of a listener.
enum ListenerResponder: Sendable {
    /// From memory, without leaving the event loop.
    case immediate(@Sendable (ListenerRequest) -> ListenerAnswer)
    /// After waiting for something, such as the database.
    case waiting(@Sendable (ListenerRequest) async -> ListenerAnswer)
}

/// What a request gets that cannot be read, or is larger or slower than it may be.
typealias ListenerRefusal = @Sendable (HTTPResponseStatus, String) -> ListenerAnswer
