public import Foundation
public import Holdfast

/// Makes a policy with the interface of the older generation of GCXTrustPolicy.
///
/// ```swift
/// let composer = ComposePolicy(withValidation: .pinPublicKey, forHost: "https://www.example.com")
/// TrustManager.shared.add(policy: composer.create())
/// ```
/// This is a class, as published: set its properties, then make the policy, which copies them. It is not Sendable.
public final class ComposePolicy {
    /// The type of validation.
    public var validationType: ValidationType
    /// The host in its given form: a name, a pattern, or a URL, which is read as its host.
    public var hostName: String
    /// Whether the server's certificate must name the dialed host; see ``ValidationSettings/sslValidateHostName``.
    public var validateHostName = true
    /// The bundle whose certificates are pinned; see ``ValidationSettings/certificateBundle``.
    public var certificateBundle = Bundle.main
    /// Whether pins alone decide about trust and expiry; see ``ValidationSettings/certificatePinOnly``.
    public var allowInsecureServerTrust = false
    /// The closure that decides for the type `custom`; without it such a policy rejects.
    public var customValidation: CustomValidationClosure?
    /// The URL from which the online types get their document; see ``ValidationSettings/trustServer``.
    public var trustServer: URL?
    /// The certificate, in DER, of the key with which the trust server signs.
    public var trustServerCertificate: Data?
    /// The customer whose document is requested from the trust server.
    public var customer: String?
    /// The settings with which the online types download, store and verify their document.
    public var onlinePinning = OnlinePinningSettings()

    /// Begins a policy.
    /// - Parameters:
    ///   - type: the type of validation.
    ///   - host: a name, a pattern, or a URL, which is read as its host.
    public init(withValidation type: ValidationType, forHost host: String) {
        validationType = type
        hostName = host
    }

    /// Makes the policy. It blocks while it reads the certificates to pin.
    /// - Returns: the policy. If ``makePolicy()`` would throw, it rejects everything and reports the reason.
    public func create() -> any TrustPolicy { recipe.create() }

    /// Makes the policy. It blocks while it reads the certificates to pin.
    /// - Returns: the policy.
    /// - Throws: `PolicyConfigurationError`.
    public func makePolicy() throws(PolicyConfigurationError) -> any TrustPolicy { try recipe.make() }

    private var recipe: PublishedPolicy {
        PublishedPolicy(
            type: validationType, hostName: hostName, validatesHostName: validateHostName, bundle: certificateBundle,
            certificatePinOnly: allowInsecureServerTrust, customValidation: customValidation,
            online: PublishedPolicy.OnlinePinning(
                trustServer: trustServer, trustServerCertificate: trustServerCertificate, customer: customer,
                settings: onlinePinning))
    }
}
