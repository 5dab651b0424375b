#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
import Holdfast
public import Security

/// `GCXTrustPolicy`: a policy for Objective-C.
///
/// The application's own class implements one of the two calls, with the name that its generation publishes; a class
/// that implements neither trusts no server.
@objc(GCXTrustPolicy) public protocol ObjCTrustPolicy: NSObjectProtocol {
    /// The host or pattern in canonical form.
    @objc var hostName: String { get }

    /// Whether a trust is trusted: NO for nil, unless the policy validates nothing or calls the application.
    @objc(validateWithTrust:) optional func validate(withTrust trust: SecTrust?) -> Bool

    /// Whether a trust is trusted, by the older generation's name.
    @objc(validateWith:) optional func validate(with trust: SecTrust?) -> Bool

    /// Prepares the policy, for example with the first document of a trust server; until then the policy rejects.
    ///
    /// The handler is called once, on any thread: with nil when the policy can decide, otherwise with the reason why it
    /// cannot yet. The application's own class leaves this out, because it needs no preparation.
    @objc(prepareWithCompletionHandler:) optional func prepare(
        completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The Swift policy that this one represents. The application's own class leaves this out: then the class itself
    /// decides.
    @objc(swiftPolicy) optional var standsFor: ObjCPolicy { get }
}

/// `GCXSwiftPolicy`: a Swift policy for Objective-C.
@objc(GCXSwiftPolicy) public final class ObjCPolicy: NSObject, ObjCTrustPolicy {
    let policy: any TrustPolicy

    init(_ policy: any TrustPolicy) {
        self.policy = policy
    }

    /// The host or pattern in canonical form.
    @objc public var hostName: String { policy.hostName }

    /// Whether a trust is trusted.
    @objc(validateWithTrust:) public func validate(withTrust trust: SecTrust?) -> Bool { policy.validate(trust: trust) }

    /// Whether a trust is trusted, by the older generation's name.
    @objc(validateWith:) public func validate(with trust: SecTrust?) -> Bool { policy.validate(trust: trust) }

    /// Prepares the policy, and then calls the handler, on any thread; returns at once.
    @objc(prepareWithCompletionHandler:) public func prepare(
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let policy = policy
        Task { completionHandler(await [policy].prepare().first) }
    }

    /// This object.
    @objc(swiftPolicy) public var standsFor: ObjCPolicy { self }
}

extension ObjCTrustPolicy {
    /// The Swift policy, or one that calls the application's own class.
    var swiftPolicy: any TrustPolicy {
        if let own = standsFor { return own.policy }
        let reference = SharedReference(self as any ObjCTrustPolicy)
        let validation: CustomValidationClosure = { trust in
            let own = reference.get
            return own.validate?(withTrust: trust) ?? own.validate?(with: trust) ?? false
        }
        let settings = ValidationSettings()
        settings.customValidation = validation
        return TrustManager().create(type: .custom, hostName: hostName, settings: settings)
    }
}
#endif
