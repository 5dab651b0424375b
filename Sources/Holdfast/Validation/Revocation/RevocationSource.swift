/// Where a ``PathValidator`` takes its revocation lists from: ``Revocation``, which does not change, or a
/// ``RevocationStore``, which fetches them.
///
/// A source is asked once at the beginning of every validation, from any thread: it returns what it has, without I/O.
public protocol RevocationSource: Sendable {
    /// What is checked at this moment.
    var current: Revocation { get }

    /// Is told of a path that leads to an anchor and keeps every rule, apart from revocation, which is checked
    /// afterward: the places that its certificates give for their lists can be trusted that far. By default nothing
    /// happens.
    ///
    /// It is called during a validation: it neither blocks nor takes long.
    /// - Parameter path: leaf first, the anchor last.
    func note(_ path: [X509Certificate])

    /// Yields an element after every change of ``current``, for code that keeps connections open; by default the stream ends
    /// at once.
    func changes() -> AsyncStream<Void>
}

extension RevocationSource {
    /// Ignores the path.
    public func note(_ path: [X509Certificate]) {}

    /// Ends at once: nothing changes.
    public func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
