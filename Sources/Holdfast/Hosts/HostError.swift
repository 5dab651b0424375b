/// Why a text or a URL does not name a host that can be dialled.
public struct HostError: HoldfastError {
    /// What is wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Nothing was given, or a URL without a host.
        case empty
        /// The name is longer than 253 octets (RFC 1035 2.3.4, without the root).
        case tooLong
        /// A label is longer than 63 octets.
        case labelTooLong
        /// Two dots follow one another, or the name begins with one.
        case emptyLabel
        /// A character that no host name contains: white space, a control character, a part of a URL.
        case forbiddenCharacter
        /// A label begins or ends with a hyphen (RFC 952).
        case hyphenAtEdge
        /// The last label is a number, decimal or hexadecimal, so that a resolver may take the name for an address.
        case numericName
        /// Brackets or colons around something that is not an IPv6 address.
        case invalidAddress
        /// An IPv6 address with a zone, which has no meaning to the peer.
        case zoneIdentifier
        /// A Unicode name that UTS 46, non-transitional, does not map.
        case invalidUnicodeName
        /// A label that begins with `xn--` and is not an A-label (RFC 5890 2.3.2.1).
        case invalidALabel
        /// A port outside 1 to 65535.
        case invalidPort
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
