/// The source of a ``PathValidator``'s revocation lists: ``Revocation``, which does not change, or a
/// ``RevocationStore``, which fetches them.
///
/// It is read once at the beginning of every validation, from any thread. It returns the current lists, and neither
/// performs nor starts any I/O.
public protocol RevocationSource: Sendable {
    /// The lists and rules to check now.
    var current: Revocation { get }

    /// Receives the notification that a decision with its lists is final. It may then fetch lists that are due, and
    /// those that the certificates of these paths name. By default it does nothing.
    ///
    /// It neither blocks nor takes long.
    /// - Parameter paths: the ``ValidationOutcome/pathsToFollow``.
    func noteUse(following paths: [[X509Certificate]])

    /// Yields an element after every change of ``current``, for code that keeps connections open; by default the stream
    /// ends at once.
    func changes() -> AsyncStream<Void>
}

extension RevocationSource {
    /// Ignores the paths.
    public func noteUse(following paths: [[X509Certificate]]) {}

    /// Ends at once, because the source does not change.
    public func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
