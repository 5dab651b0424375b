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

    /// Whether the server's certificate must name the dialled host; YES by default.
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
}
#endif
