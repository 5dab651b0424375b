/// Where a ``PathValidator`` gets its revocation lists: ``Revocation``, which does not change, or a
/// ``RevocationStore``, which fetches them.
///
/// A source is asked once at the beginning of every validation, from any thread: it returns what it has, and neither
/// performs nor starts any I/O.
public protocol RevocationSource: Sendable {
    /// What is checked now.
    var current: Revocation { get }

    /// Learns that a decision for which it was asked is final, and may fetch what is due, or what the certificates of
    /// these paths name. By default nothing happens.
    ///
    /// It neither blocks nor takes long.
    /// - Parameter paths: those of ``ValidationOutcome/pathsToFollow``.
    func noteUse(following paths: [[X509Certificate]])

    /// Yields an element after every change of ``current``, for code that keeps connections open; by default the stream ends
    /// at once.
    func changes() -> AsyncStream<Void>
}

extension RevocationSource {
    /// Ignores the paths.
    public func noteUse(following paths: [[X509Certificate]]) {}

    /// Ends at once: nothing changes.
    public func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
