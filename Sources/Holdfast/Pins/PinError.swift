/// An error of a text that is not a pin, or of pins that are not a set of pins.
public struct PinError: HoldfastError {
    /// The error codes, a set that may grow.
    public typealias Code = OpenCode<PinError>

    /// The error code.
    public let code: Code
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension PinError.Code {
    /// Nothing was given.
    public static var empty: Self { Self() }
    /// A digest without the prefix that specifies what was hashed.
    public static var missingPrefix: Self { Self() }
    /// The prefix is something other than `sha256/` or `cert-sha256/`.
    public static var unsupportedAlgorithm: Self { Self() }
    /// The text after `sha256/` is not padded Base64 in its canonical form (RFC 4648 3.5, 4).
    public static var notBase64: Self { Self() }
    /// The text after `cert-sha256/` is not hexadecimal.
    public static var notHexadecimal: Self { Self() }
    /// The digest is not 32 bytes long.
    public static var wrongLength: Self { Self() }
    /// A pin of a whole Merkle Tree Certificate, which servers present in several forms.
    public static var merkleTreeCertificate: Self { Self() }
    /// A set without pins.
    public static var noPins: Self { Self() }
    /// A pin that is already in the set.
    public static var duplicatePin: Self { Self() }
    /// A backup that is one of the pins it should replace.
    public static var backupEqualsPin: Self { Self() }
}
