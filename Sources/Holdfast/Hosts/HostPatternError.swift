/// An error of a text that is not a host pattern, or of a line that is not a rule of a public suffix list.
public struct HostPatternError: HoldfastError {
    /// The error codes, a set that may grow.
    public typealias Code = OpenCode<HostPatternError>

    /// The error code.
    public let code: Code
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }

    init(_ error: HostError, in text: String) {
        self.init(
            .invalidHost, expected: error.expected,
            found: "\(error.found) in \(text.quotedAddress) (\(error.code.rawValue))",
            remedy: error.remedy)
    }
}

extension HostPatternError.Code {
    /// The text is empty, or it ends after the wildcard.
    public static var empty: Self { Self() }
    /// A `*` elsewhere than in a whole leftmost label `*` or `**`.
    public static var misplacedWildcard: Self { Self() }
    /// The pattern covers everything under a name of one label, such as `com`.
    public static var topLevel: Self { Self() }
    /// The pattern covers everything under a public suffix, such as `co.uk`.
    public static var publicSuffix: Self { Self() }
    /// A wildcard in front of an address.
    public static var addressWithWildcard: Self { Self() }
    /// The text of the pattern is not a host; `found` states why.
    public static var invalidHost: Self { Self() }
    /// A line of a public suffix list that is not a rule.
    public static var invalidSuffixRule: Self { Self() }
}
