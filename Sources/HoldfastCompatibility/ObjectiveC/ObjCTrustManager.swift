#if canImport(ObjectiveC) && canImport(Security)
public import CHoldfastCompatibility
public import Foundation
public import Holdfast

/// `GCXTrustManager`: a `TrustManager` for Objective-C.
@objc(GCXTrustManager)
public final class ObjCTrustManager: NSObject, ObjCTrustManaging,
    Sendable
{
    /// The same manager for Swift.
    public let manager: TrustManager

    /// A manager for applications that need only one; Swift's `TrustManager.shared`.
    @objc(shared) public static let shared = ObjCTrustManager(.shared)

    /// A manager for applications that need only one, by the older generation's name.
    @objc(sharedInstance) public static var sharedInstance: ObjCTrustManager { shared }

    /// Makes a Swift manager available to Objective-C.
    public init(_ manager: TrustManager) {
        self.manager = manager
    }

    /// Makes a manager without policies.
    @objc public override init() {
        manager = TrustManager()
    }

    /// Makes a manager with policies.
    @objc(initWithTrustPolicies:) public convenience init(trustPolicies: [any ObjCTrustPolicy]) {
        self.init(TrustManager(policies: trustPolicies.map(\.swiftPolicy)))
    }

    /// Makes a manager with policies.
    @objc(initWith:) public convenience init(with trustPolicies: [any ObjCTrustPolicy]) {
        self.init(trustPolicies: trustPolicies)
    }

    /// Makes a policy; it is not added.
    /// - Parameters:
    ///   - type: the type of validation.
    ///   - hostName: a host, a pattern of hosts, or a URL, which is read as its host.
    ///   - settings: all other settings; nil for the defaults.
    @objc(createWithType:hostName:settings:) public func create(
        type: ObjCValidationType, hostName: String, settings: ObjCValidationSettings?
    ) -> any ObjCTrustPolicy {
        ObjCPolicy(manager.create(type: type.swiftType, hostName: hostName, settings: settings?.settings))
    }

    /// Adds a policy, in place of the one for the same host or pattern if there is one.
    @objc(addWithPolicy:) public func add(policy: any ObjCTrustPolicy) { manager.add(policy: policy.swiftPolicy) }

    /// Adds policies; concurrent readers see all of them or none.
    @objc(addWithPolicies:) public func add(policies: [any ObjCTrustPolicy]) {
        manager.add(policies: policies.map(\.swiftPolicy))
    }

    /// The policy that decides for a host; nil if no policy covers it.
    @objc(policyFor:) public func policy(for name: String) -> (any ObjCTrustPolicy)? {
        manager.policy(for: name).map(ObjCPolicy.init)
    }

    /// The policy that decides for a host, by the older generation's name.
    @objc(policyForHost:) public func policy(forHost host: String) -> (any ObjCTrustPolicy)? { policy(for: host) }

    /// Removes the policy with exactly this name.
    @objc(removePolicyWithName:) @discardableResult public func removePolicy(
        name: String
    ) -> (any ObjCTrustPolicy)? {
        manager.removePolicy(name: name).map(ObjCPolicy.init)
    }

    /// Removes the policy with exactly this name, by the older generation's name.
    @objc(removePolicyFor:) public func removePolicy(for hostName: String) { manager.removePolicy(name: hostName) }

    /// Every policy by its name. Assigning replaces them all at once.
    @objc public var policies: [String: any ObjCTrustPolicy] {
        get { manager.policies.mapValues(ObjCPolicy.init) }
        set { manager.policies = newValue.mapValues(\.swiftPolicy) }
    }

    /// Every policy, exact hosts first.
    @objc public var allPolicies: [any ObjCTrustPolicy] { manager.allPolicies.map(ObjCPolicy.init) }

    /// The name of every policy.
    @objc public var allNames: [String] { manager.allNames }

    /// Prepares every policy that is waiting, for example for the first document of a trust server, all at the same
    /// time; returns at once.
    /// - Parameter completionHandler: called once, on any thread, when no policy is waiting any longer: with nil if
    ///   every policy can decide, otherwise with the reason why one of them cannot yet.
    @objc(prepareWithCompletionHandler:) public func prepare(
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let policies = manager.allPolicies
        Task { completionHandler(await policies.prepare().first) }
    }

    /// The name of every policy, by the older generation's name.
    @objc public func allHostNames() -> [String] { manager.allNames }
}
#endif
