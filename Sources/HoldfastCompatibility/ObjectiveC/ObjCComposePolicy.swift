#if canImport(ObjectiveC) && canImport(Security)
public import CHoldfastCompatibility
public import Foundation
public import Security

/// `GCXComposePolicy`: ``ComposePolicy`` for Objective-C.
@objc(GCXComposePolicy) public final class ObjCComposePolicy: NSObject {
    let composer: ComposePolicy

    /// Begins a policy.
    /// - Parameters:
    ///   - type: the type of validation.
    ///   - host: a name, a pattern, or a URL, which is read as its host.
    @objc(initWithValidation:forHost:) public init(withValidation type: ObjCValidationType, forHost host: String) {
        composer = ComposePolicy(withValidation: type.swiftType, forHost: host)
    }

    /// The type of validation.
    @objc public var validationType: ObjCValidationType {
        get { ObjCValidationType(rawValue: composer.validationType.rawValue) ?? .custom }
        set { composer.validationType = newValue.swiftType }
    }

    /// The host in its given form.
    @objc public var hostName: String {
        get { composer.hostName }
        set { composer.hostName = newValue }
    }

    /// Whether the server's certificate must name the dialed host; YES by default.
    @objc public var validateHostName: Bool {
        get { composer.validateHostName }
        set { composer.validateHostName = newValue }
    }

    /// The bundle whose certificates are pinned; the main bundle by default.
    @objc public var certificateBundle: Bundle {
        get { composer.certificateBundle }
        set { composer.certificateBundle = newValue }
    }

    /// Whether pins alone decide about trust and expiry; NO by default.
    @objc public var allowInsecureServerTrust: Bool {
        get { composer.allowInsecureServerTrust }
        set { composer.allowInsecureServerTrust = newValue }
    }

    /// The block that decides for the type custom; it may be called from any thread.
    @objc public var customValidation: (@Sendable (SecTrust?) -> Bool)? {
        get { composer.customValidation }
        set { composer.customValidation = newValue }
    }

    /// The URL from which the online types get the pins.
    @objc public var trustServer: URL? {
        get { composer.trustServer }
        set { composer.trustServer = newValue }
    }

    /// The certificate, in DER, of the key with which the trust server signs.
    @objc public var trustServerCertificate: Data? {
        get { composer.trustServerCertificate }
        set { composer.trustServerCertificate = newValue }
    }

    /// The customer whose pins are requested from the trust server.
    @objc public var customer: String? {
        get { composer.customer }
        set { composer.customer = newValue }
    }

    /// Whether the document's digests may be made with SHA-1, as in documents made before 2018; NO by default.
    @objc public var allowsLegacyDigests: Bool {
        get { composer.onlinePinning.allowsLegacyDigests }
        set { composer.onlinePinning.allowsLegacyDigests = newValue }
    }

    /// Makes the policy; it blocks while it reads the certificates to pin.
    @objc public func create() -> any ObjCTrustPolicy { ObjCPolicy(composer.create()) }
}
#endif
