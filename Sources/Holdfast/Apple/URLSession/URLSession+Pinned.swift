#if canImport(Security)
import Logging

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// Makes a session whose servers are judged by the policies of a manager.
    ///
    /// A session asks once a connection, and the system may resume an earlier TLS session without asking: after a policy
    /// got stricter, or its pins changed, go on with ``refreshed()``.
    /// - Parameters:
    ///   - configuration: by default an ephemeral one, which keeps nothing of a session beyond it.
    ///   - manager: whose policies decide.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, pinnedBy manager: TrustManager
    ) {
        self.init(
            configuration: configuration, delegate: PinnedSessionDelegate(manager: manager), delegateQueue: nil)
    }

    /// Finishes this session and makes a new one of the same configuration, delegate and queue, with no connection that
    /// was trusted before.
    ///
    /// Tasks under way go on to their end. What the system remembers of TLS sessions outside of this one it may still
    /// resume, for about ten minutes by Apple's documentation.
    ///
    /// A background session stays the same: the system makes no second one of its identifier before the first is
    /// invalid, which is after its last transfer. It is told to use new connections for later requests instead; it does
    /// so a moment after this call.
    /// A session that is invalid already, for example because it was refreshed before, has lost its delegate: what comes
    /// of it trusts no server, and says so in the log. Go on with the session that the first call returned.
    /// - Returns: the new session; this one takes no more tasks. For a background session this one.
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

    /// Without a delegate the system alone would decide, and no pin would count.
    private func refusing() -> URLSession {
        PolicyLog.shared.logger.error("a session without a delegate was refreshed: its successor trusts no server")
        return URLSession(configuration: configuration, pinnedBy: TrustManager())
    }
}
#endif
