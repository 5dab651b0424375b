#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
public import Security

/// `GCXValidationSettings`, the ``ValidationSettings`` as Objective-C has them.
@objc(GCXValidationSettings) public final class ObjCValidationSettings: NSObject, ObjCValidationCustomizable {
    let settings = ValidationSettings()

    /// Fresh settings with every default; a new object each time.
    @objc(defaultSettings) public static var defaultSettings: ObjCValidationSettings { ObjCValidationSettings() }

    /// Makes settings with every default.
    @objc public override init() {}

    /// Whether the server's certificate must name the dialed host; YES by default.
    @objc public var sslValidateHostName: Bool {
        get { settings.sslValidateHostName }
        set { settings.sslValidateHostName = newValue }
    }

    /// Whose certificates are pinned; the main bundle by default.
    @objc public var certificateBundle: Bundle {
        get { settings.certificateBundle }
        set { settings.certificateBundle = newValue }
    }

    /// Whether pins alone decide about trust and expiry; NO by default.
    @objc public var certificatePinOnly: Bool {
        get { settings.certificatePinOnly }
        set { settings.certificatePinOnly = newValue }
    }

    /// What decides for the type custom; it may be called from any thread.
    @objc public var customValidation: (@Sendable (SecTrust?) -> Bool)? {
        get { settings.customValidation }
        set { settings.customValidation = newValue }
    }

    /// Where the online types find the pins.
    @objc public var trustServer: URL? {
        get { settings.trustServer }
        set { settings.trustServer = newValue }
    }

    /// The certificate, in DER, under which the trust server signs.
    @objc public var trustServerCertificate: Data? {
        get { settings.trustServerCertificate }
        set { settings.trustServerCertificate = newValue }
    }

    /// Whose pins the trust server is asked for.
    @objc public var customer: String? {
        get { settings.customer }
        set { settings.customer = newValue }
    }

    /// Whether the document's digests may be made with SHA-1, as those made before 2018 are; NO by default.
    @objc public var allowsLegacyDigests: Bool {
        get { settings.onlinePinning.allowsLegacyDigests }
        set { settings.onlinePinning.allowsLegacyDigests = newValue }
    }
}
#endif
