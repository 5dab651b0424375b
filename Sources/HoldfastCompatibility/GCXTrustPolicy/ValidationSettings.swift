import Holdfast

public import class Foundation.Bundle
public import struct Foundation.Data
public import struct Foundation.URL

/// The settings with which `TrustManager.create` makes a policy, in addition to its type and host.
///
/// This is a class, as published: set its properties, then pass it to `create`, which copies them. It is not Sendable.
public final class ValidationSettings: ValidationCustomizable {
    /// Fresh settings with every default; a new object each time, so that no change reaches another policy.
    public static var defaultSettings: ValidationSettings { ValidationSettings() }

    /// Whether the server's certificate must name the dialed host; true by default. If false, the types that pin accept
    /// only a pin of the server's own certificate, and `standard` accepts a valid certificate for any host.
    public var sslValidateHostName = true
    /// The bundle whose certificates `pinCertificate` and `pinPublicKey` pin: all files with the ending `cer`. The main
    /// bundle by default. It is read when the policy is made.
    public var certificateBundle = Bundle.main
    /// Whether pins alone decide about trust and expiry, self-signed certificates included; false by default. Types
    /// that do not pin ignore it.
    public var certificatePinOnly = false
    /// The closure that decides for the type `custom`; without it such a policy rejects.
    public var customValidation: CustomValidationClosure?
    /// The https URL from which the types `pinCertificateOnline` and `pinPublicKeyOnline` get their document. Without
    /// this URL, the certificate or the customer, such a policy rejects and names the missing one. Policies with equal
    /// parameters share one download.
    public var trustServer: URL?
    /// The certificate, in DER, of the key with which the trust server signs.
    public var trustServerCertificate: Data?
    /// The customer whose document is requested from the trust server.
    public var customer: String?
    /// The settings with which the online types download, store and verify their document.
    public var onlinePinning = OnlinePinningSettings()

    /// Makes settings with every default.
    public init() {}
}
