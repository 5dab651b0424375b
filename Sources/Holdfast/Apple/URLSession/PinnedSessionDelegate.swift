#if canImport(Security)
public import Foundation
import Security

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Answers a URLSession's challenges with the policies of a ``TrustManager``.
///
/// ```swift
/// let session = URLSession(
///     configuration: .ephemeral, delegate: PinnedSessionDelegate(manager: manager), delegateQueue: nil)
/// ```
/// The host is the one that the session dialed. For a trusted server, the answer is a credential. For any other server,
/// the challenge is canceled and the task fails with `URLError.cancelled`; ``failure(forHost:)`` and the manager's
/// observers have the reason. The session handles every other authentication method as if there were no delegate.
/// Decisions are made on a separate queue, after the policy has the data that it was waiting for, such as its first
/// document.
///
/// A subclass must call `super` in the two challenge methods, or not override them. To keep your own delegate, await
/// ``response(to:)`` in it. A subclass is not isolated to the main actor, even in an app whose declarations are by
/// default (Xcode 26). This class is safe to use from any thread, because its state changes only under a lock; a
/// subclass must keep it that way.
nonisolated open class PinnedSessionDelegate: NSObject, URLSessionTaskDelegate,
    @unchecked Sendable  // The only way in which an open class can conform to Apple's Sendable protocols.
{
    // Explicitly nonisolated, so that subclasses are, also in an app whose default isolation is the main actor: the
    // session calls its delegate on another thread, and a subclass on the main actor cannot override these methods.
    // Unchecked, because Apple's delegate protocols are Sendable and the compiler does not accept an open class as
    // Sendable in any other way. It stores only constants and a Lock.

    /// The answer to a challenge.
    public typealias Response = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    /// The maximum number of hosts whose last failure is remembered; beyond that, all failures are forgotten.
    private static let maximumRemembered = 1_000

    private let judge: any ChallengeJudge
    private let failures = Lock<[String: TrustFailure]>([:])

    /// Makes a delegate.
    /// - Parameters:
    ///   - manager: the manager whose policies decide.
    ///   - anchors: the only anchors that are trusted; nil for those of the system.
    ///   - revocation: whether the system checks revocation.
    public init(manager: TrustManager, anchors: TrustAnchors? = nil, revocation: SystemRevocation = .system) {
        judge = ManagerJudge(manager: manager, anchors: anchors, revocation: revocation)
    }

    /// Makes a delegate for the policies of ``TrustManager/shared``.
    public override init() { judge = ManagerJudge(manager: .shared, anchors: nil) }

    package init(judge: any ChallengeJudge) { self.judge = judge }

    /// The reason why the last connection to a host was rejected; nil if it was not.
    /// - Parameter host: the host that was dialed.
    public func failure(forHost host: String) -> TrustFailure? {
        guard let name = try? DialedHost(publishedHostName: host).name else { return nil }
        return failures.withLock { $0[name] }
    }

    // MARK: Challenges

    /// Evaluates the server of a challenge, for your own delegate.
    /// - Returns: a credential for a trusted server, cancellation for any other server, and default handling for every
    ///   other authentication method.
    public func response(to challenge: URLAuthenticationChallenge) async -> Response {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            return (.performDefaultHandling, nil)
        }
        return await response(to: space.serverTrust.map(SystemTrust.init), host: space.host, port: space.port)
    }

    /// Answers a challenge of a session.
    open func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, completionHandler)
    }

    /// Answers a challenge of a task. A session also calls this about servers if the delegate lacks the other method.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, completionHandler)
    }

    package func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            completionHandler(.performDefaultHandling, nil)
            return
        }
        let trust = space.serverTrust.map(SystemTrust.init)
        let (host, port) = (space.host, space.port)
        Task {
            let response = await self.response(to: trust, host: host, port: port)
            completionHandler(response.disposition, response.credential)
        }
    }

    private func response(to trust: SystemTrust?, host text: String, port: Int) async -> Response {
        guard let trust, let host = try? DialedHost(text, port: (1...65_535).contains(port) ? port : nil) else {
            return (.cancelAuthenticationChallenge, nil)
        }
        let decision = await judge.decision(for: trust, host: host)
        failures.withLock { failures in
            if failures.count >= Self.maximumRemembered { failures = [:] }
            failures[host.name] = decision.failure
        }
        guard decision.isTrusted else { return (.cancelAuthenticationChallenge, nil) }
        return (.useCredential, URLCredential(trust: trust.secTrust))
    }
}
#endif
