public import Foundation
public import FoundationNetworking

// That this module can be imported says that there are Objective-C classes. What of the runtime one of them needs is here
// as well: which methods an object implements, and optional methods. scripts/check apple puts these names in the place of
// what Swift has on Apple's systems alone.

public struct Selector: Hashable, Sendable {
    let name: String

    public init(_ name: String) { self.name = name }

    public static let sessionChallenge = Selector("URLSession:didReceiveChallenge:completionHandler:")
    public static let taskChallenge = Selector("URLSession:task:didReceiveChallenge:completionHandler:")
    public static let validateWithTrust = Selector("validateWithTrust:")
    public static let validateWith = Selector("validateWith:")
    public static let becameInvalid = Selector("URLSession:didBecomeInvalidWithError:")
}

/// An object that says which methods it implements; any other implements none.
public protocol StandInResponder {
    var implemented: Set<Selector> { get }
}

extension NSObjectProtocol {
    public func responds(to selector: Selector!) -> Bool {
        (self as? any StandInResponder)?.implemented.contains(selector) ?? false
    }

    public func forwardingTarget(for selector: Selector!) -> Any? { nil }
}

public typealias StandInChallengeHandler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

extension URLSessionDelegate {
    /// The method as an optional requirement: nil where the object does not implement it.
    public var standInSessionChallenge:
        ((URLSession, URLAuthenticationChallenge, @escaping StandInChallengeHandler) -> Void)?
    {
        guard responds(to: .sessionChallenge) else { return nil }
        return { self.urlSession($0, didReceive: $1, completionHandler: $2) }
    }
}

extension URLSessionTaskDelegate {
    /// The method as an optional requirement: nil where the object does not implement it.
    public var standInTaskChallenge:
        ((URLSession, URLSessionTask, URLAuthenticationChallenge, @escaping StandInChallengeHandler) -> Void)?
    {
        guard responds(to: .taskChallenge) else { return nil }
        return { self.urlSession($0, task: $1, didReceive: $2, completionHandler: $3) }
    }
}

/// A sender that says whether it has what Apple's protocol leaves to choice; any other has it.
public protocol StandInSender {
    var hasDefaultHandling: Bool { get }
}

extension URLAuthenticationChallengeSender {
    /// The method as an optional requirement: nil where the object does not implement it.
    public func standInDefaultHandling(for challenge: URLAuthenticationChallenge) -> Void? {
        (self as? any StandInSender)?.hasDefaultHandling == false ? nil : performDefaultHandling(for: challenge)
    }
}

// Of the runtime's functions only the types: nothing can be looked up here.

public final class Protocol {}

public func class_respondsToSelector(_ cls: AnyClass?, _ sel: Selector) -> Bool { false }
public func object_getClass(_ obj: Any?) -> AnyClass? { nil }
public func NSProtocolFromString(_ namestr: String) -> Protocol? { nil }
