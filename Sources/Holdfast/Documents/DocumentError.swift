/// The reason why a signed document was not accepted.
public struct DocumentError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<DocumentError>

    /// The reason.
    public let code: Code
    /// The position of the invalid entry in its list, counted from 0; nil if no entry is invalid.
    public let entry: Int?
    /// The invalid field; nil if no field is invalid.
    public let field: String?
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    package init(
        _ code: Code, entry: Int? = nil, field: String? = nil, expected: String, found: String, remedy: String? = nil
    ) {
        self.code = code
        self.entry = entry
        self.field = field
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }
}

// Remedies that several codes share.
private let makeAnew =
    "Have the document made anew by `holdfastctl sign`, and do not edit it by hand."
private let publishAnew =
    "Have the document made anew by `holdfastctl trust-server publish`, or by openssl cms -sign -nodetach -binary -outform DER."
private let publishEntries =
    "Publish entries for every name that has some, or allow the loss in the configuration."

extension DocumentError.Code {
    // Reading
    /// More bytes than the limit.
    public static var tooLarge: Self { Self("Publish fewer entries, or raise the limits of the configuration.") }
    /// The document begins with a byte-order mark.
    public static var byteOrderMark: Self { Self("Write the document in UTF-8 without a byte-order mark.") }
    /// Bytes that are not UTF-8 (RFC 3629), or half of a surrogate pair.
    public static var notUTF8: Self { Self("Write the document in UTF-8 without a byte-order mark.") }
    /// Not JSON (RFC 8259).
    public static var notJSON: Self { Self(makeAnew) }
    /// Objects and arrays nested more deeply than the limit.
    public static var tooDeep: Self { Self(makeAnew) }
    /// More members in one object than the limit.
    public static var tooManyMembers: Self { Self(makeAnew) }
    /// More entries than the limit.
    public static var tooManyEntries: Self { Self("Publish fewer entries, or raise the limits of the configuration.") }
    /// A key or a text is longer than its limit.
    public static var textTooLong: Self { Self(makeAnew) }
    /// The same key twice in one object, regardless of escapes.
    public static var duplicateKey: Self { Self(makeAnew) }
    /// A required field is missing.
    public static var missingField: Self { Self(makeAnew) }
    /// A value whose type does not match the field.
    public static var wrongType: Self { Self(makeAnew) }
    /// A number with a fraction, an exponent, or too many digits where an integer is required.
    public static var notAnInteger: Self { Self(makeAnew) }
    /// Text that is not Base64 in its canonical form (RFC 4648 3.5).
    public static var notCanonicalBase64: Self { Self(makeAnew) }
    /// A value of the right type that the field does not allow.
    public static var invalidValue: Self { Self(makeAnew) }

    // Proof
    /// The public key is not a point of P-256 in X9.63 form.
    public static var invalidPublicKey: Self {
        Self("Give the Base64 that `holdfastctl export --key signer.pem` prints.")
    }
    /// A signature does not verify under the public key.
    public static var invalidSignature: Self {
        Self("Do not use the document: it was altered, or signed with another key than the one configured.")
    }

    // Signed messages (CMS, RFC 5652) and their signers
    /// The configured signer cannot be used: not a certificate, or an authority without a purpose.
    public static var invalidSigner: Self {
        Self("Give the certificate that `holdfastctl trust-server show` prints, or an authority with a purpose.")
    }
    /// Not a CMS SignedData, or one that breaks its own rules.
    public static var malformedMessage: Self { Self(publishAnew) }
    /// A CMS SignedData of a form that is not accepted, such as one with several signers.
    public static var unsupportedMessage: Self { Self(publishAnew) }
    /// A signature or digest algorithm, or a kind of key, that Holdfast does not verify. The document was not verified;
    /// whether it was altered is unknown.
    public static var unsupportedAlgorithm: Self {
        Self(
            "Have it signed with an algorithm that Holdfast supports: RSA of 2048 bits or more, P-256, P-384 or P-521 with SHA-2."
        )
    }
    /// A digest with SHA-1 or MD5.
    public static var legacyDigest: Self {
        Self("Have the document signed with SHA-256, or allow legacy digests while old documents are in use.")
    }
    /// The document was signed with a key other than the configured signer's.
    public static var untrustedSigner: Self {
        Self("Do not use the document; if the signer's key was replaced, configure its new certificate.")
    }
    /// The document is for another customer.
    public static var wrongCustomer: Self {
        Self("Ask for the customer's own document, or correct the customer in the configuration.")
    }

    // Checks of a store on a verified document
    /// The document was issued before one that is already known.
    public static var issuedBeforeNewest: Self {
        Self("Ask again; if this happens again, somebody is answering with old documents.")
    }
    /// The document was made too long before it was downloaded.
    public static var outdated: Self {
        Self(
            "Check that the signer still runs, and then this device's clock; otherwise somebody answers with old documents."
        )
    }
    /// A list without entries, which therefore has no signature.
    public static var emptyList: Self { Self(publishEntries) }
    /// A list whose entries have all expired.
    public static var expiredEntries: Self {
        Self("Publish entries that have not expired, and check this device's clock. The store keeps what it has.")
    }
    /// A name that has unexpired entries would lose all of them.
    public static var losesPins: Self { Self(publishEntries) }
    /// The task that reads the document was canceled.
    public static var canceled: Self { Self("Read it again when it is needed.") }
}

extension DocumentError {
    static let canceled = DocumentError(.canceled, expected: "time to read the whole", found: "a canceled task")

    /// `code in entry n, field f: expected …, found …. Remedy.`
    public var description: String {
        let place = [entry.map { "entry \($0)" }, field.map { "field \($0.quoted)" }].compactMap(\.self)
        let location = place.isEmpty ? "" : " in \(place.joined(separator: ", "))"
        return "\(code.rawValue)\(location): expected \(expected), found \(found). \(remedy)"
    }
}
