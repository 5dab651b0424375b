#if canImport(ObjectiveC) && canImport(Security)
public import CHoldfastCompatibility
import Foundation

/// `GCXTrustManaging`: ``TrustManaging`` for Objective-C; ``ObjCTrustManager`` conforms.
@objc(GCXTrustManaging) public protocol ObjCTrustManaging: AnyObject {
    /// Every policy by its name.
    @objc var policies: [String: any ObjCTrustPolicy] { get set }

    /// The name of every policy.
    @objc var allNames: [String] { get }

    /// Every policy.
    @objc var allPolicies: [any ObjCTrustPolicy] { get }

    /// Makes a policy; it is not added.
    @objc(createWithType:hostName:settings:) func create(
        type: ObjCValidationType, hostName: String, settings: ObjCValidationSettings?
    ) -> any ObjCTrustPolicy

    /// The policy that decides for a host; nil if no policy covers it.
    @objc(policyFor:) func policy(for name: String) -> (any ObjCTrustPolicy)?

    /// Adds a policy, in place of the one for the same host or pattern if there is one.
    @objc(addWithPolicy:) func add(policy: any ObjCTrustPolicy)

    /// Adds policies.
    @objc(addWithPolicies:) func add(policies: [any ObjCTrustPolicy])

    /// Removes the policy with exactly this name.
    @objc(removePolicyWithName:) @discardableResult func removePolicy(name: String) -> (any ObjCTrustPolicy)?
}
#endif
