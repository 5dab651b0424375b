/// An error of bytes that are not a readable X.509 certificate (RFC 5280).
///
/// It does not concern trust: a certificate that reads without an error may still be worthless.
public struct CertificateError: HoldfastError {
    /// The error codes, a set that may grow.
    public typealias Code = OpenCode<CertificateError>

    /// The error code.
    public let code: Code
    /// The field of RFC 5280, for example `subjectPublicKeyInfo`; `certificate` for the certificate as a whole.
    public let field: String
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    package init(_ code: Code, field: String, expected: String, found: String) {
        self.code = code
        self.field = field
        facts = ErrorFacts(expected: expected, found: found, remedy: Self.remedy(for: code, in: field))
    }

    /// Names the field in which the DER went wrong. A wrong identifier or value inside well-formed DER is a malformed
    /// field, not a wrong encoding.
    package init(_ error: DERError, in field: String) {
        let code: Code =
            switch error.code {
            case .trailingBytes: .trailingBytes
            case .unexpectedTag, .invalidValue: .malformedField
            case .truncated, .longIdentifier, .indefiniteLength, .lengthTooLarge, .lengthNotMinimal: .notDER
            }
        self.init(code, field: field, expected: "\(field) in DER", found: error.description)
    }

    /// The action that fixes the error, in one sentence.
    private static func remedy(for code: Code, in field: String) -> String {
        switch code {
        case .notDER where field == "certificate":
            "Give the certificate in DER; openssl x509 -in FILE -outform DER -out FILE.der makes it of a PEM file."
        case .tooLarge:
            "Give one certificate, not a bundle or another kind of file."
        case .trailingBytes where field == "certificate":
            "Give one certificate at a time."
        default:
            "Have the certificate issued again by an authority that follows RFC 5280."
        }
    }
}

extension CertificateError.Code {
    /// The bytes are not DER (X.690): a wrong length, an indefinite one, an element that is cut short.
    public static var notDER: Self { Self() }
    /// More bytes than a certificate is allowed to have.
    public static var tooLarge: Self { Self() }
    /// More bytes follow the certificate, or a field in it.
    public static var trailingBytes: Self { Self() }
    /// A version other than 1, 2 or 3 (RFC 5280 4.1.2.1), or fields that the version does not have.
    public static var unsupportedVersion: Self { Self() }
    /// A field is DER, but not of the syntax that RFC 5280 specifies.
    public static var malformedField: Self { Self() }
    /// The same extension twice (RFC 5280 4.2).
    public static var duplicateExtension: Self { Self() }
    /// The signature algorithm inside the signed part differs from the one next to the signature (RFC 5280 4.1.1.2).
    public static var algorithmMismatch: Self { Self() }
    /// More elements in a field than the budget allows.
    public static var budgetExceeded: Self { Self() }
}
