public import Holdfast

/// Why a certificate, a key or a pin is not published as a host's own.
public struct HostCheckError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<HostCheckError>

    /// The reason.
    public let code: Code
    /// The subject of the check: the name that the certificate should have, a file, or a pin.
    public let name: String
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts
    /// Why the chain does not validate; nil if that is not the reason.
    public let failure: TrustFailure?

    init(
        _ code: Code, name: String, expected: String, found: String, remedy: String? = nil,
        failure: TrustFailure? = nil
    ) {
        self.code = code
        self.name = name
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
        self.failure = failure
    }
}

extension HostCheckError.Code {
    /// The certificate, key or certificate request cannot be read.
    public static var unreadable: Self { Self("Give it in PEM or DER.") }
    /// The certificate is a CA certificate (RFC 5280 4.2.1.9, 4.2.1.3), not the host's own.
    public static var notEndEntity: Self {
        Self("Put the host's own certificate first in the file, and its issuers after it.")
    }
    /// The certificate, or the certificate request, is for other names.
    public static var nameMismatch: Self {
        Self("Check that it is the right certificate, and that the name is written as in it.")
    }
    /// The key is of a kind that no client accepts.
    public static var unsupportedKey: Self {
        Self("Make a key on P-256 with its certificate request: `holdfastctl keygen --tls HOST -o next.key`.")
    }
    /// The key is too short, so that no client accepts it.
    public static var weakKey: Self {
        Self("Make a key on P-256 with its certificate request: `holdfastctl keygen --tls HOST -o next.key`.")
    }
    /// The certificate has expired.
    public static var expired: Self { Self("Give the certificate that replaces it.") }
    /// The chain does not validate.
    public static var untrusted: Self {
        Self(
            "Put its issuers after it in the file and give its root as an anchor; sign for it as untrusted only if you "
                + "know from another source whose it is.")
    }
    /// The digest is not that of a key or certificate.
    public static var placeholder: Self {
        Self(
            "Give the pin of a real key in its place; this makes one to keep as a backup, and prints its pin: "
                + "`holdfastctl keygen --tls HOST -o backup.key`.")
    }
    /// The certificate request is not signed with its own key (RFC 2986 4.2).
    public static var unsignedRequest: Self {
        Self(
            "Make the request with the private key itself: "
                + "`openssl req -new -key next.key -subj /CN=HOST -out next.csr`.")
    }
}
