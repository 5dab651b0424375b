public import Holdfast

/// Why a probe cannot be set up with the given values.
public struct ProbeConfigurationError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<ProbeConfigurationError>

    /// The reason.
    public let code: Code
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: code.remedy)
    }
}

extension ProbeConfigurationError.Code {
    /// The text is not an IP address, or not a block of addresses.
    public static var invalidAddress: Self {
        Self("Write it like 192.0.2.7, 2001:db8::7, 192.0.2.0/24 or 2001:db8::/32.")
    }
    /// The text does not name an HTTP proxy.
    public static var invalidProxy: Self { Self("Write it like proxy.example:3128 or http://USER:PASSWORD@HOST:PORT.") }
    /// The client's certificate cannot be read.
    public static var unusableClientCertificate: Self { Self("Give the certificate in PEM, its issuers after it.") }
    /// The client's private key cannot be used.
    public static var unusableClientKey: Self { Self("Give the private key in PEM, not encrypted.") }
    /// The private key belongs to another certificate.
    public static var clientKeyMismatch: Self { Self("Give the private key of the first certificate.") }
}
