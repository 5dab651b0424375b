#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
public import Security

/// `GCXValidationSettings`: ``ValidationSettings`` for Objective-C.
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

    /// The bundle whose certificates are pinned; the main bundle by default.
    @objc public var certificateBundle: Bundle {
        get { settings.certificateBundle }
        set { settings.certificateBundle = newValue }
    }

    /// Whether pins alone decide about trust and expiry; NO by default.
    @objc public var certificatePinOnly: Bool {
        get { settings.certificatePinOnly }
        set { settings.certificatePinOnly = newValue }
    }

    /// The block that decides for the type custom; it may be called from any thread.
    @objc public var customValidation: (@Sendable (SecTrust?) -> Bool)? {
        get { settings.customValidation }
        set { settings.customValidation = newValue }
    }

    /// The URL from which the online types get the pins.
    @objc public var trustServer: URL? {
        get { settings.trustServer }
        set { settings.trustServer = newValue }
    }

    /// The certificate, in DER, of the key with which the trust server signs.
    @objc public var trustServerCertificate: Data? {
        get { settings.trustServerCertificate }
        set { settings.trustServerCertificate = newValue }
    }

    /// The customer whose pins are requested from the trust server.
    @objc public var customer: String? {
        get { settings.customer }
        set { settings.customer = newValue }
    }

    /// Whether the document's digests may be made with SHA-1, as in documents made before 2018; NO by default.
    @objc public var allowsLegacyDigests: Bool {
        get { settings.onlinePinning.allowsLegacyDigests }
        set { settings.onlinePinning.allowsLegacyDigests = newValue }
    }
}
#endif
