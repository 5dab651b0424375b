public import class Foundation.Bundle

/// The settings of a validation in the newer generation of GCXTrustPolicy; ``ValidationSettings`` conforms.
///
/// `TrustManager.create` accepts the class: settings of another type are copied into one.
public protocol ValidationCustomizable: AnyObject {
    /// Whether the server's certificate must name the dialed host; see ``ValidationSettings/sslValidateHostName``.
    var sslValidateHostName: Bool { get set }

    /// The bundle whose certificates are pinned; see ``ValidationSettings/certificateBundle``.
    var certificateBundle: Bundle { get set }

    /// Whether pins alone decide about trust and expiry; see ``ValidationSettings/certificatePinOnly``.
    var certificatePinOnly: Bool { get set }

    /// The closure that decides for the type `custom`; see ``ValidationSettings/customValidation``.
    var customValidation: CustomValidationClosure? { get set }
}
