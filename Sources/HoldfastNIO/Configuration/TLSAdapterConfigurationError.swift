public import Holdfast

/// An error for a TLS configuration that would weaken Holdfast's decision, or that has a setting Holdfast would have to
/// ignore.
public struct TLSAdapterConfigurationError: HoldfastError {
    /// The problem of the configuration.
    public typealias Code = OpenCode<TLSAdapterConfigurationError>

    /// The error code.
    public let code: Code
    /// The expected value, the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension TLSAdapterConfigurationError.Code {
    /// Verification is off, so NIOSSL would ignore a rejection. It is also off in a configuration for a server without
    /// mutual TLS.
    public static var verificationDisabled: Self { Self() }
    /// Verification is optional; NIOSSL accepts a client without a certificate.
    public static var verificationOptional: Self { Self() }
    /// Keys shared in advance (PSK); a handshake with one has no certificate to evaluate.
    public static var preSharedKey: Self { Self() }
    /// Trust roots were given; Holdfast trusts only the anchors of its validator.
    public static var trustRootsGiven: Self { Self() }
    /// A setting that only servers have.
    public static var serverSetting: Self { Self() }
    /// The names of authorities would be sent to clients, but the trust roots that contain them are empty.
    public static var namesOfAuthorities: Self { Self() }
    /// A server without a certificate, or without its private key.
    public static var noServerCertificate: Self { Self() }
    /// The newest version of TLS that is allowed is older than the oldest.
    public static var noVersionLeft: Self { Self() }
    /// NIOSSL cannot make a context from it.
    public static var refusedByNIOSSL: Self { Self() }
}
