/// Why a text is not a host pattern, or a line is not a rule of a public suffix list.
public struct HostPatternError: HoldfastError {
    /// What is wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Nothing was given, or nothing stands after the wildcard.
        case empty
        /// A `*` that is not, alone or doubled, the whole leftmost label.
        case misplacedWildcard
        /// The pattern covers everything under a name of one label, such as `com`.
        case topLevel
        /// The pattern covers everything under a public suffix, such as `co.uk`.
        case publicSuffix
        /// A wildcard in front of an address.
        case addressWithWildcard
        /// What the pattern is made from is not a host; `found` says why.
        case invalidHost
        /// A line of a public suffix list that is not a rule.
        case invalidSuffixRule
    }

    /// What went wrong.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
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
