#if canImport(Security)
import Logging

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// Makes a session whose servers are evaluated by the policies of a manager.
    ///
    /// A session calls its delegate once per connection, and the system may resume an earlier TLS session without
    /// calling it. After a policy has become stricter, or its pins have changed, continue with ``refreshed()``.
    /// - Parameters:
    ///   - configuration: by default an ephemeral one, which stores nothing.
    ///   - manager: the manager whose policies decide.
    public convenience init(configuration: URLSessionConfiguration = .ephemeral, pinnedBy manager: TrustManager) {
        self.init(configuration: configuration, delegate: PinnedSessionDelegate(manager: manager), delegateQueue: nil)
    }

    /// Finishes this session and makes a new one with the same configuration, delegate and queue, without any
    /// connection that was trusted before.
    ///
    /// Running tasks continue to their end. The system may still resume TLS sessions that it remembers, for about ten
    /// minutes according to Apple's documentation.
    ///
    /// A background session stays the same: the system makes no second session with its identifier before the first one
    /// is invalid, which is after its last transfer. Instead, it is set to use new connections for later requests; it
    /// does so a moment after this call. A session that is already invalid, for example because it was refreshed
    /// before, has lost its delegate: its successor trusts no server, and logs an error. Continue with the session that
    /// the first call returned.
    /// - Returns: the new session; this one accepts no more tasks. For a background session, this session.
    public func refreshed() -> URLSession {
        guard configuration.identifier == nil else {
            flush {}
            return self
        }
        guard let delegate else { return refusing() }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        finishTasksAndInvalidate()
        return session
    }

    /// Without a delegate, the system alone would decide, without pins.
    private func refusing() -> URLSession {
        PolicyLog.shared.logger.error("a session without a delegate was refreshed: its successor trusts no server")
        return URLSession(configuration: configuration, pinnedBy: TrustManager())
    }
}
#endif
