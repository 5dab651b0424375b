public import Holdfast

/// Why a TLS configuration cannot be used: it would weaken Holdfast's decision, or it has a setting that Holdfast would
/// have to ignore.
public struct TLSAdapterConfigurationError: HoldfastError {
    /// What is wrong with the configuration.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Verification is off, so NIOSSL would ignore a rejection. A configuration for a server without mutual TLS has
        /// it off too.
        case verificationDisabled
        /// Verification is optional; if a client has no certificate, NIOSSL does not ask.
        case verificationOptional
        /// Keys shared in advance (PSK); a handshake with one has no certificate to evaluate.
        case preSharedKey
        /// Trust roots were given; Holdfast trusts only the anchors of its validator.
        case trustRootsGiven
        /// A setting that only servers have.
        case serverSetting
        /// The names of authorities are to be sent to clients; they would be those of the trust roots, which are empty.
        case namesOfAuthorities
        /// A server without a certificate, or without its private key.
        case noServerCertificate
        /// The newest version of TLS that is allowed is older than the oldest.
        case noVersionLeft
        /// NIOSSL cannot make a context from it.
        case refusedByNIOSSL
    }

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}
