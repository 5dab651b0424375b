/// An error of a text or a URL that does not name a valid host.
public struct HostError: HoldfastError {
    /// The error codes, a set that may grow.
    public typealias Code = OpenCode<HostError>

    /// The error code.
    public let code: Code
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension HostError.Code {
    /// Nothing was given, or a URL without a host.
    public static var empty: Self { Self() }
    /// The name is longer than 253 bytes (RFC 1035 2.3.4, without the root).
    public static var tooLong: Self { Self() }
    /// A label is longer than 63 bytes.
    public static var labelTooLong: Self { Self() }
    /// Two dots follow one another, or the name begins with one.
    public static var emptyLabel: Self { Self() }
    /// A character that no host name contains: white space, a control character, a part of a URL.
    public static var forbiddenCharacter: Self { Self() }
    /// The last label begins or ends with a hyphen (RFC 952), or an A-label ends with one. Other labels may.
    public static var hyphenAtEdge: Self { Self() }
    /// The last label is a number, decimal or hexadecimal, so a resolver may mistake the name for an address.
    public static var numericName: Self { Self() }
    /// Brackets or colons around something that is not an IPv6 address.
    public static var invalidAddress: Self { Self() }
    /// An IPv6 address with a zone, which has no meaning to the peer.
    public static var zoneIdentifier: Self { Self() }
    /// A Unicode name that UTS 46, non-transitional, does not map.
    public static var invalidUnicodeName: Self { Self() }
    /// A label that begins with `xn--` and is not an A-label (RFC 5890 2.3.2.1).
    public static var invalidALabel: Self { Self() }
    /// A port outside 1 to 65535.
    public static var invalidPort: Self { Self() }
}
