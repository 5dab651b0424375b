import ObjectiveC

// The Objective-C world that WrappingSessionDelegate.swift is type-checked in: what it uses, declared as Apple's SDK
// declares it (optional methods above all), with no Foundation.

@objc public final class URLSession: NSObject, @unchecked Sendable {
    @objc public enum AuthChallengeDisposition: Int {
        case useCredential
    }
}
@objc public final class URLSessionTask: NSObject, @unchecked Sendable {}
@objc public final class URLCredential: NSObject, @unchecked Sendable {}
@objc public final class URLProtectionSpace: NSObject, @unchecked Sendable {
    let authenticationMethod = String()
}
@objc public final class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    let protectionSpace = URLProtectionSpace()
}
let NSURLAuthenticationMethodServerTrust = String()

@objc public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    @objc optional func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

@objc public protocol URLSessionTaskDelegate: URLSessionDelegate {
    @objc optional func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

public final class TrustManager: Sendable {}
public struct TrustAnchors: Sendable {}
public enum SystemRevocation: Sendable { case system }

open class PinnedSessionDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    public init(manager: TrustManager, anchors: TrustAnchors? = nil, revocation: SystemRevocation = .system) {}

    open func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {}

    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {}
}
