#if canImport(ObjectiveC) && canImport(Security)
import Security

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// A ``PinnedSessionDelegate`` around an application's own: a manager's policies evaluate servers, and everything else
/// goes to the wrapped delegate.
///
/// It implements only what the wrapped delegate implements, so that the session keeps its defaults for everything else.
/// The wrapped delegate is never called about a server's trust.
///
/// If a session's delegate has no method for the session's own challenges (servers, client certificates, NTLM,
/// Negotiate), the session calls the task's method for them. So this delegate has the session's method only if the
/// wrapped delegate has it, or if the wrapped delegate has neither method, because some method must evaluate servers.
public final class WrappingSessionDelegate: PinnedSessionDelegate,
    @unchecked Sendable  // Like its superclass; its constants are of protocols that only Apple makes Sendable.
{
    private let wrapped: any URLSessionDelegate

    /// Wraps a delegate.
    /// - Parameters:
    ///   - wrapped: receives everything except challenges about a server's trust.
    ///   - manager: the manager whose policies decide about servers.
    ///   - anchors: the only anchors that are trusted; nil for those of the system.
    ///   - revocation: whether the system checks revocation.
    public init(
        wrapping wrapped: any URLSessionDelegate, manager: TrustManager, anchors: TrustAnchors? = nil,
        revocation: SystemRevocation = .system
    ) {
        self.wrapped = wrapped
        super.init(manager: manager, anchors: anchors, revocation: revocation)
    }

    /// Whether this delegate implements a method: those that the wrapped delegate implements, and one for evaluating
    /// servers.
    public override func responds(to selector: Selector!) -> Bool {
        switch selector {
        case Self.sessionChallenge:
            wrapped.responds(to: Self.sessionChallenge) || !wrapped.responds(to: Self.taskChallenge)
        case Self.taskChallenge: wrapped.responds(to: Self.taskChallenge)
        default: super.responds(to: selector) || wrapped.responds(to: selector)
        }
    }

    private static var sessionChallenge: Selector {
        #selector(URLSessionDelegate.urlSession(_:didReceive:completionHandler:))
    }

    private static var taskChallenge: Selector {
        #selector(URLSessionTaskDelegate.urlSession(_:task:didReceive:completionHandler:))
    }

    /// The wrapped delegate, for methods that only it implements.
    public override func forwardingTarget(for selector: Selector!) -> Any? {
        wrapped.responds(to: selector) ? wrapped : super.forwardingTarget(for: selector)
    }

    /// Answers a challenge of a session.
    public override func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isAboutTrust = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
        if !isAboutTrust, let answer = wrapped.urlSession(_:didReceive:completionHandler:) {
            answer(session, challenge, completionHandler)
        } else {
            super.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
    }

    /// Answers a challenge of a task.
    public override func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isAboutTrust = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
        if !isAboutTrust, let wrapped = wrapped as? any URLSessionTaskDelegate,
            let answer = wrapped.urlSession(_:task:didReceive:completionHandler:)
        {
            answer(session, task, challenge, completionHandler)
        } else {
            super.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
    }
}
#endif
