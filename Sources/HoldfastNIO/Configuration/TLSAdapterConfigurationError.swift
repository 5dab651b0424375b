public import Holdfast

/// Why a TLS configuration cannot be used: it would weaken Holdfast's decision, or it has a setting that Holdfast would
/// have to ignore.
public struct TLSAdapterConfigurationError: HoldfastError {
    /// What is wrong with the configuration.
    public typealias Code = OpenCode<TLSAdapterConfigurationError>

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension TLSAdapterConfigurationError.Code {
    /// Verification is off, so NIOSSL would ignore a rejection. A configuration for a server without mutual TLS has
    /// it off too.
    public static var verificationDisabled: Self { Self() }
    /// Verification is optional; if a client has no certificate, NIOSSL does not ask.
    public static var verificationOptional: Self { Self() }
    /// Keys shared in advance (PSK); a handshake with one has no certificate to evaluate.
    public static var preSharedKey: Self { Self() }
    /// Trust roots were given; Holdfast trusts only the anchors of its validator.
    public static var trustRootsGiven: Self { Self() }
    /// A setting that only servers have.
    public static var serverSetting: Self { Self() }
    /// The names of authorities would be sent to clients, but they come from the trust roots, which are empty.
    public static var namesOfAuthorities: Self { Self() }
    /// A server without a certificate, or without its private key.
    public static var noServerCertificate: Self { Self() }
    /// The newest version of TLS that is allowed is older than the oldest.
    public static var noVersionLeft: Self { Self() }
    /// NIOSSL cannot make a context from it.
    public static var refusedByNIOSSL: Self { Self() }
}
