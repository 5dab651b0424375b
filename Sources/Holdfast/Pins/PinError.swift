/// Why a text is not a pin, or why pins are not a set of pins.
public struct PinError: HoldfastError {
    /// What is wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Nothing was given.
        case empty
        /// A digest stands alone, without the prefix that says what was hashed.
        case missingPrefix
        /// The prefix is something other than `sha256/` or `cert-sha256/`.
        case unsupportedAlgorithm
        /// What follows `sha256/` is not padded Base64 in its canonical form (RFC 4648 3.5, 4).
        case notBase64
        /// What follows `cert-sha256/` is not hexadecimal.
        case notHexadecimal
        /// The digest is not 32 octets long.
        case wrongLength
        /// A set without pins.
        case noPins
        /// A pin that is already in the set.
        case duplicatePin
        /// A backup that is one of the pins it should replace.
        case backupEqualsPin
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
