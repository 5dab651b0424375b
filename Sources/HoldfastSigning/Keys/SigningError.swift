public import Holdfast

/// Why a key cannot be read, or a document cannot be signed.
public struct SigningError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Not a private key in PEM (RFC 7468).
        case notAKeyFile
        /// The key is encrypted and no password was given.
        case passwordNeeded
        /// The password does not open the key, or the file is damaged; the two cannot be distinguished.
        case wrongPassword
        /// The key is of a kind that cannot be used here, or too short.
        case unsupportedKey
        /// The key is encrypted in an unsupported way, or with too many rounds.
        case unsupportedEncryption
        /// Not a certificate, or not the certificate of the key.
        case wrongCertificate
        /// The customer's name is empty, too long, or not fit to be part of a file name.
        case invalidCustomer
        /// Clients would refuse the document; nothing is published.
        case unreadableDocument
        /// The text is not the number of a private key.
        case invalidNumber
        /// The challenge is missing, too short, too long or not Base64 (`INVALID_CHALLENGE`).
        case invalidChallenge
        /// A list that should be written again has a field that would be lost.
        case unknownField
        /// A list that should be written without a key has an entry without a signature.
        case unsignedEntry
        /// A certificate signing request without names, or with a name that no certificate can have.
        case invalidRequest
        /// The file in which a trust server remembers its last round is damaged.
        case damagedMemory
        /// The program or closure that signs with a key in a token or a key service gave no signature.
        case signerFailed
        /// The program or closure that signs gave a signature that does not verify with the public key.
        case wrongSignature
        /// Cryptography failed although that should be impossible.
        case cryptographyFailed
    }

    /// The reason.
    public let code: Code
    /// What would have been right, what was found instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? Self.remedy(for: code))
    }

    private static func remedy(for code: Code) -> String {
        switch code {
        case .notAKeyFile:
            "Give the file that `holdfastctl keygen` or `trust-server init` wrote; openssl pkey -inform der converts "
                + "DER to PEM."
        case .passwordNeeded:
            "Give the password of the key; if you cannot, as for a trust server, write the key without one: openssl "
                + "pkey -in FILE."
        case .wrongPassword: "Check the password; openssl pkcs8 -in FILE opens the key with the right one."
        case .unsupportedKey:
            "Make a key with `holdfastctl keygen`, or with openssl genpkey on prime256v1. Roles of a repository may also "
                + "have keys of Ed25519, P-384, or RSA of 2048 bits or more."
        case .unsupportedEncryption: "Encrypt it again: openssl pkcs8 -topk8 -v2 aes-128-cbc -v2prf hmacWithSHA256."
        case .wrongCertificate: "Give the certificate and the key that `holdfastctl trust-server init` wrote."
        case .invalidCustomer: "Give a name of 1 to 64 letters, digits, periods, hyphens and underscores."
        case .unreadableDocument: "Correct what the error names; clients would refuse the document."
        case .invalidNumber: "Give the Base64 that `holdfastctl export-private` prints."
        case .invalidChallenge: "Send the Base64 of 16 to 32 random octets."
        case .unknownField: "Remove the field, or edit the list by other means."
        case .unsignedEntry: "Sign the list with the key."
        case .invalidRequest: "Name the hosts that the certificate is for, such as www.example.com or *.example.com."
        case .damagedMemory:
            "Restore a copy of the file, or remove it: then only what is seen from now on is published."
        case .signerFailed: "Find out why it did not sign, and try again."
        case .wrongSignature:
            "Check that it signs with this key, that it hashes its input exactly once, and that it prints only the "
                + "signature."
        case .cryptographyFailed: "Try again, and report it."
        }
    }
}
