/// Why a signed document was not accepted.
public struct DocumentError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // Reading
        /// More bytes than the limit.
        case tooLarge
        /// A byte-order mark in front.
        case byteOrderMark
        /// Octets that are not UTF-8 (RFC 3629), or half of a surrogate pair.
        case notUTF8
        /// Not JSON (RFC 8259).
        case notJSON
        /// Objects and arrays deeper in each other than the limit.
        case tooDeep
        /// More members in one object than the limit.
        case tooManyMembers
        /// More entries than the limit.
        case tooManyEntries
        /// A key, or a text with a limit of its own, that is longer.
        case textTooLong
        /// The same key twice in one object, however it is escaped.
        case duplicateKey
        /// A field that must be there is not.
        case missingField
        /// A value of another type than the field has.
        case wrongType
        /// A number with a fraction, an exponent, or too many digits where an integer is due.
        case notAnInteger
        /// Text that is not Base64 in its canonical form (RFC 4648 3.5).
        case notCanonicalBase64
        /// A value of the right type that the field does not allow.
        case invalidValue

        // Proof
        /// The public key is not a point of P-256 in X9.63 form.
        case invalidPublicKey
        /// A signature does not verify under the public key.
        case invalidSignature

        // Signed messages (CMS, RFC 5652) and their signers
        /// The configured signer cannot be used: not a certificate, or an authority without a purpose.
        case invalidSigner
        /// Not a CMS SignedData, or one that breaks its own rules.
        case malformedMessage
        /// A CMS SignedData of a form that is not accepted, such as one with several signers.
        case unsupportedMessage
        /// A digest with SHA-1 or MD5.
        case legacyDigest
        /// Signed by somebody else than the configured signer.
        case untrustedSigner
        /// The document of another customer.
        case wrongCustomer

        // What a store makes of a verified document
        /// The document was issued before one that is known already.
        case issuedBeforeNewest
        /// A document that was made too long before it was downloaded.
        case outdated
        /// A list without entries, which is signed by nobody.
        case emptyList
        /// A name that has unexpired entries would be left without any.
        case losesPins
        /// The task that reads the document was cancelled.
        case cancelled
    }

    /// The reason.
    public let code: Code
    /// The position of the entry at fault in its list, counted from 0; nil where no entry is.
    public let entry: Int?
    /// The field at fault; nil where no field is.
    public let field: String?
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    package init(
        _ code: Code, entry: Int? = nil, field: String? = nil, expected: String, found: String, remedy: String? = nil
    ) {
        self.code = code
        self.entry = entry
        self.field = field
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.usualRemedy)
    }
}

extension DocumentError {
    static let cancelled = DocumentError(.cancelled, expected: "time to read the whole", found: "a cancelled task")

    /// `code in entry n, field f: expected …, found …. Remedy.`
    public var description: String {
        let place = [entry.map { "entry \($0)" }, field.map { "field \($0.quoted)" }].compactMap(\.self)
        let location = place.isEmpty ? "" : " in \(place.joined(separator: ", "))"
        return "\(code.rawValue)\(location): expected \(expected), found \(found). \(remedy)"
    }
}

extension DocumentError.Code {
    fileprivate var usualRemedy: String {
        switch self {
        case .tooLarge, .tooManyEntries: "Publish fewer entries, or raise the limits of the configuration."
        case .byteOrderMark, .notUTF8: "Write the document in UTF-8 without a byte-order mark."
        case .notJSON, .tooDeep, .tooManyMembers, .textTooLong, .duplicateKey, .missingField, .wrongType, .notAnInteger,
            .notCanonicalBase64, .invalidValue:
            "Have the document made anew by `holdfastctl sign`, and do not edit it by hand."
        case .invalidPublicKey: "Give the Base64 that `holdfastctl export` prints."
        case .invalidSignature:
            "Do not use the document: it was altered, or signed with another key than the one configured."
        case .invalidSigner:
            "Give the certificate that `holdfastctl trust-server init` printed, or an authority with a purpose."
        case .malformedMessage, .unsupportedMessage:
            "Have the document made anew by `holdfastctl trust-server publish`, or by openssl smime -sign -nodetach."
        case .legacyDigest:
            "Have the document signed with SHA-256, or allow legacy digests while old documents are in use."
        case .untrustedSigner:
            "Do not use the document; if the signer's key was replaced, configure its new certificate."
        case .wrongCustomer: "Ask for the customer's own document, or correct the customer in the configuration."
        case .issuedBeforeNewest: "Ask again; if it goes on, somebody answers with old documents."
        case .outdated:
            "Check that the signer still runs, and then this device's clock; otherwise somebody answers with old documents."
        case .emptyList, .losesPins:
            "Publish entries for every name that has some, or allow the loss in the configuration."
        case .cancelled: "Read it again when it is needed."
        }
    }
}
