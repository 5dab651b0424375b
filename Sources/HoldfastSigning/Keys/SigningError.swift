public import Holdfast

/// Why a key cannot be read, or a document cannot be signed.
public struct SigningError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<SigningError>

    /// The reason.
    public let code: Code
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts

    package init(_ code: Code, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }
}

extension SigningError.Code {
    /// Not a private key in PEM (RFC 7468).
    public static var notAKeyFile: Self {
        Self(
            "Give the file that `holdfastctl keygen` or `trust-server publish --first-run` wrote; of DER, openssl pkey "
                + "-inform DER -in FILE -out key.pem makes PEM.")
    }
    /// The key is encrypted and no password was given.
    public static var passwordNeeded: Self {
        Self(
            "Give the password of the key; if you cannot, as for a trust server, write the key without one: openssl "
                + "pkey -in FILE -out key.pem.")
    }
    /// The password does not open the key, or the file is damaged; the two cannot be distinguished.
    public static var wrongPassword: Self {
        Self("Check the password; openssl pkey -in FILE -noout succeeds with the right one.")
    }
    /// The key is of an unsupported kind, or too short.
    public static var unsupportedKey: Self {
        Self(
            "Make a key with `holdfastctl keygen -o signer.pem`, or with openssl genpkey on prime256v1. Roles of a repository may also "
                + "have keys of Ed25519, P-384, or RSA of 2048 bits or more.")
    }
    /// The key is encrypted in an unsupported way, or with too many rounds.
    public static var unsupportedEncryption: Self {
        Self(
            "Encrypt it again: openssl pkcs8 -topk8 -in FILE -v2 aes-128-cbc -v2prf hmacWithSHA256 -out key.pem."
        )
    }
    /// Not a certificate, or the certificate of another key.
    public static var wrongCertificate: Self {
        Self("Give the certificate and the key that `holdfastctl trust-server publish --first-run` wrote.")
    }
    /// The customer's name is empty, too long, or cannot be part of a file name.
    public static var invalidCustomer: Self {
        Self("Give a name of 1 to 64 letters, digits, periods, hyphens and underscores.")
    }
    /// The name of a key is empty, too long, or has characters that are not allowed.
    public static var invalidName: Self {
        Self("Give a name of 1 to 64 letters, digits, periods, hyphens, underscores and @, such as ann or vault-2.")
    }
    /// Clients would refuse the document; nothing is published.
    public static var unreadableDocument: Self {
        Self("Correct what the error names; clients would refuse the document.")
    }
    /// The text is not the number of a private key.
    public static var invalidNumber: Self {
        Self("Give the Base64 that `holdfastctl export-private --key signer.pem` prints.")
    }
    /// The challenge is missing, too short, too long or not Base64 (`INVALID_CHALLENGE`).
    public static var invalidChallenge: Self { Self("Send the Base64 of 16 to 32 random octets.") }
    /// A list that is to be rewritten has a field that would be lost.
    public static var unknownField: Self { Self("Remove the field, or edit the list by other means.") }
    /// A list that is to be rewritten without a key has an entry without a signature.
    public static var unsignedEntry: Self { Self("Sign the list with the key.") }
    /// A certificate signing request without names, or with a name that certificates cannot contain.
    public static var invalidRequest: Self {
        Self("Name the hosts that the certificate is for, such as www.example.com or *.example.com.")
    }
    /// The file in which a trust server stores its last round is damaged.
    public static var damagedMemory: Self {
        Self("Restore a copy of the file, or remove it: then only what is seen from now on is published.")
    }
    /// The program or closure that signs with a key in a token or a key service returned no signature.
    public static var signerFailed: Self { Self("Find out why it did not sign, and try again.") }
    /// The program or closure that signs returned a signature that does not verify with the public key.
    public static var wrongSignature: Self {
        Self(
            "Check that it signs with this key, that it hashes its input exactly once, and that it prints only the "
                + "signature.")
    }
    /// Cryptography failed although that should be impossible.
    public static var cryptographyFailed: Self { Self("Try again, and report it.") }
}
