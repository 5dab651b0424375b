public import Holdfast

/// GCXTrustPolicy's spellings, newer generation.
extension TrustManager: TrustManaging {
    /// Makes a policy; it is not added.
    ///
    /// It blocks while it reads the certificates to pin. If the configuration is invalid, the policy rejects everything
    /// and reports the reason; `makePolicy(type:hostName:settings:)` throws an error with the same text.
    /// - Parameters:
    ///   - type: the type of validation.
    ///   - hostName: a host, a pattern of hosts, or a URL, which is read as its host.
    ///   - settings: all other settings; nil for the defaults.
    /// - Returns: the policy, with the manager's clock.
    public func create(
        type: ValidationType, hostName: String, settings: ValidationSettings? = nil
    ) -> any TrustPolicy {
        recipe(type, hostName, settings ?? .defaultSettings).create()
    }

    /// Makes a policy; it is not added.
    ///
    /// It blocks while it reads the certificates to pin.
    /// - Parameters:
    ///   - type: the type of validation.
    ///   - hostName: a host, a pattern of hosts, or a URL, which is read as its host.
    ///   - settings: all other settings.
    /// - Returns: the policy, with the manager's clock.
    /// - Throws: `PolicyConfigurationError`.
    public func makePolicy(
        type: ValidationType, hostName: String, settings: ValidationSettings = .defaultSettings
    ) throws(PolicyConfigurationError) -> any TrustPolicy {
        try recipe(type, hostName, settings).make()
    }

    private func recipe(
        _ type: ValidationType, _ hostName: String, _ settings: ValidationSettings
    ) -> PublishedPolicy {
        PublishedPolicy(
            type: type, hostName: hostName, validatesHostName: settings.sslValidateHostName,
            bundle: settings.certificateBundle, certificatePinOnly: settings.certificatePinOnly,
            customValidation: settings.customValidation,
            online: PublishedPolicy.OnlinePinning(
                trustServer: settings.trustServer, trustServerCertificate: settings.trustServerCertificate,
                customer: settings.customer, settings: settings.onlinePinning), clock: clock)
    }
}

/// GCXTrustPolicy's spellings, older generation.
extension TrustManager {
    /// A manager for applications that need only one.
    @available(*, deprecated, renamed: "shared")
    public static var sharedInstance: TrustManager { shared }

    /// Makes a manager with policies.
    @available(*, deprecated, renamed: "init(policies:)")
    public convenience init(trustPolicies: [any TrustPolicy]) { self.init(policies: trustPolicies) }

    /// Makes a manager with policies.
    @available(*, deprecated, renamed: "init(policies:)")
    public convenience init(with policies: [any TrustPolicy]) { self.init(policies: policies) }

    /// The policy that decides for a host; see `policy(for:)`.
    @available(*, deprecated, renamed: "policy(for:)")
    public func policy(forHost host: String) -> (any TrustPolicy)? { policy(for: host) }

    /// The name of every policy.
    @available(*, deprecated, renamed: "allNames")
    public func allHostNames() -> [String] { allNames }

    /// Removes the policy with exactly this name; see `removePolicy(name:)`.
    @available(*, deprecated, renamed: "removePolicy(name:)")
    public func removePolicy(for hostName: String) { removePolicy(name: hostName) }
}
