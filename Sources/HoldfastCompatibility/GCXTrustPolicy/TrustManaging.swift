public import Holdfast

/// The interface of a manager in the newer generation of GCXTrustPolicy: it makes policies, keeps them and finds them
/// by host.
///
/// A `TrustManager` conforms. Use this protocol in code that accepts any manager, for example another one in a test.
/// Holdfast's own adapters take the class.
public protocol TrustManaging: AnyObject {
    /// Every policy by its name; see `TrustManager.policies`.
    var policies: [String: any TrustPolicy] { get set }

    /// The name of every policy.
    var allNames: [String] { get }

    /// Every policy.
    var allPolicies: [any TrustPolicy] { get }

    /// Makes a policy; it is not added.
    /// - Parameters:
    ///   - type: the type of validation.
    ///   - hostName: a host, a pattern of hosts, or a URL, which is read as its host.
    ///   - settings: all other settings; nil for the defaults.
    func create(type: ValidationType, hostName: String, settings: ValidationSettings?) -> any TrustPolicy

    /// The policy that decides for a host; nil if no policy covers it.
    func policy(for name: String) -> (any TrustPolicy)?

    /// Adds a policy, in place of the one for the same host or pattern if there is one.
    func add(policy: any TrustPolicy)

    /// Adds policies.
    func add(policies: [any TrustPolicy])

    /// Removes the policy with exactly this name.
    /// - Returns: the policy that was removed; nil if there was none.
    @discardableResult
    func removePolicy(name: String) -> (any TrustPolicy)?
}
