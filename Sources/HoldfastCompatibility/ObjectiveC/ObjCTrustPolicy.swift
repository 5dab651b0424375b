#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
import Holdfast
public import Security

/// `GCXTrustPolicy`, a policy as Objective-C has it.
///
/// A class of the application's own implements one of the two calls, by the name that its generation publishes; one that
/// implements neither trusts nobody.
@objc(GCXTrustPolicy) public protocol ObjCTrustPolicy: NSObjectProtocol {
    /// The host or pattern in canonical form.
    @objc var hostName: String { get }

    /// Whether a trust is trusted: for nil NO, unless the policy validates nothing or asks the application.
    @objc(validateWithTrust:) optional func validate(withTrust trust: SecTrust?) -> Bool

    /// Whether a trust is trusted, by the older generation's name.
    @objc(validateWith:) optional func validate(with trust: SecTrust?) -> Bool

    /// Gets what the policy waits for, such as the first document of a trust server; without it the policy rejects.
    ///
    /// The handler is called once, on any thread: with nil when the policy can decide, otherwise with why it cannot yet.
    /// A class of the application's own leaves it out: nothing waits for one.
    @objc(prepareWithCompletionHandler:) optional func prepare(
        completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The policy of Swift's that this one stands for. A class of the application's own leaves it out: then the class is
    /// asked itself.
    @objc(swiftPolicy) optional var standsFor: ObjCPolicy { get }
}

/// `GCXSwiftPolicy`, a policy of Swift's for Objective-C.
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

    /// Gets what the policy waits for, and then calls the handler, on any thread; returns at once.
    @objc(prepareWithCompletionHandler:) public func prepare(
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let policy = policy
        Task { completionHandler(await [policy].prepare().first) }
    }

    /// Itself.
    @objc(swiftPolicy) public var standsFor: ObjCPolicy { self }
}

extension ObjCTrustPolicy {
    /// The policy of Swift's, or one that asks the application's own class.
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
