public import class Foundation.Bundle

/// What ``TrustManager/create(type:hostName:settings:)`` makes a policy from, beside its type and host.
///
/// A class, as published: change the object, then hand it over; `create` copies what it says. It is not Sendable.
public final class ValidationSettings {
    /// Fresh settings with every default; a new object each time, so that no change reaches another policy.
    public static var defaultSettings: ValidationSettings { ValidationSettings() }

    /// Whether the server's certificate must name the dialled host; true by default. Where it need not, pins count for
    /// the server's own certificate only.
    public var sslValidateHostName = true
    /// Whose certificates are pinned by `pinCertificate` and `pinPublicKey`: all of them, with the ending `cer`. The
    /// main bundle by default. It is read when the policy is made.
    public var certificateBundle = Bundle.main
    /// Whether pins alone decide about trust and expiry, self-signed certificates included; false by default. Other
    /// types than `pinCertificate` and `pinPublicKey` ignore it.
    public var certificatePinOnly = false
    /// What decides for the type `custom`; without it such a policy rejects.
    public var customValidation: CustomValidationClosure?

    /// Makes settings with every default.
    public init() {}
}
