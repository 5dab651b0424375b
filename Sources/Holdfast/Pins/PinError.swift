/// Why a text is not a pin, or why pins are not a set of pins.
public struct PinError: HoldfastError {
    /// What is wrong.
    public typealias Code = OpenCode<PinError>

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension PinError.Code {
    /// Nothing was given.
    public static var empty: Self { Self() }
    /// A digest without the prefix that says what was hashed.
    public static var missingPrefix: Self { Self() }
    /// The prefix is something other than `sha256/` or `cert-sha256/`.
    public static var unsupportedAlgorithm: Self { Self() }
    /// What follows `sha256/` is not padded Base64 in its canonical form (RFC 4648 3.5, 4).
    public static var notBase64: Self { Self() }
    /// What follows `cert-sha256/` is not hexadecimal.
    public static var notHexadecimal: Self { Self() }
    /// The digest is not 32 octets long.
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
