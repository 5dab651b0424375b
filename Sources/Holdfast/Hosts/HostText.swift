internal import Foundation

/// Reads host names and distinguishes them from addresses, identically for every part of Holdfast.
enum HostText {
    /// RFC 1035 2.3.4: 255 bytes on the wire, which is 253 characters without the root.
    static let maximumNameBytes = 253
    /// The limit of RFC 1035 2.3.4.
    static let maximumLabelBytes = 63
    /// Maximum number of UTF-8 bytes of a name that is mapped. A name of 253 bytes in A-labels holds fewer than 253
    /// characters of at most four bytes each.
    static let maximumUnicodeBytes = 1_012
    /// Maximum number of bytes of a URL in place of a host name: the 8,000 that RFC 9110 4.1 recommends.
    static let maximumURLBytes = 8_000

    static func kind(of text: String) throws(HostError) -> DialedHost.Kind {
        if let octets = AddressText.parseIPv4(text.utf8) { return .ipv4(octets) }
        if text.utf8.first == UInt8(ascii: "[") || text.utf8.contains(UInt8(ascii: ":")) {
            return .ipv6(try ipv6(of: text))
        }
        return .name(try name(of: text))
    }

    static func name(of text: String) throws(HostError) -> String {
        let octets = text.utf8
        guard !octets.isEmpty else {
            throw HostError(.empty, expected: "a host name", found: "an empty text", remedy: "Give a host name.")
        }
        guard octets.count <= maximumUnicodeBytes else { throw tooLong(found: octets.count) }
        // Checked before the mapping, so that parts of a URL do not become part of a name.
        if let forbidden = text.unicodeScalars.first(where: { $0.value <= 0x20 || urlSyntax.contains($0) }) {
            throw HostError(
                .forbiddenCharacter, expected: "a host name alone",
                found: "\(String(forbidden).quoted) in \(text.quotedAddress)",
                remedy: forbidden == ":"
                    ? "Give the port beside the name, not in it."
                    : "Give the host name without scheme, port, path and percent-encoding.")
        }
        let isASCII = octets.allSatisfy { $0 < 0x80 }
        var name = isASCII ? text.lowercased() : try mapped(text)
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        try check(name, of: text)
        return name
    }

    private static let urlSyntax: Set<Unicode.Scalar> = ["%", "/", "@", ":", "?", "#", "\\", "[", "]", "\u{7F}"]

    /// The rules for a name in ASCII, whether it was given as such or came from the mapping.
    private static func check(_ name: String, of text: String) throws(HostError) {
        guard name.utf8.count <= maximumNameBytes else { throw tooLong(found: name.utf8.count) }
        var last: Substring.UTF8View?
        for label in name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            try check(label: label, of: text)
            last = label
        }
        // No top-level domain has a hyphen at the edge, and a name of one label must not look like the option of a
        // command.
        if let last, last.first == hyphen || last.last == hyphen { throw hyphenAtEdge(of: text, in: "a last label") }
        guard let last, !isNumber(last) else {
            throw HostError(
                .numericName, expected: "a name whose last label is no number, or an address of four decimal octets",
                found: text.quotedAddress,
                remedy: "Write an IPv4 address as four decimal numbers in ASCII, without leading zeros or a last dot.")
        }
    }

    private static func check(label: Substring.UTF8View, of text: String) throws(HostError) {
        guard let last = label.last else {
            throw HostError(
                .emptyLabel, expected: "a label between two dots", found: text.quotedAddress,
                remedy: "Remove the extra dot.")
        }
        guard label.count <= maximumLabelBytes else {
            throw HostError(
                .labelTooLong, expected: "labels of at most \(maximumLabelBytes) octets", found: "\(label.count)",
                remedy: "Give a name that can be in the DNS.")
        }
        guard label.allSatisfy(isLabelCharacter) else {
            throw HostError(
                .forbiddenCharacter, expected: "letters, digits, hyphens and underscores", found: text.quotedAddress,
                remedy: "Give a name that can be in the DNS.")
        }
        // RFC 952 allows no hyphen at the edge of any label, but the DNS has such names (RFC 2181 11), and browsers and
        // curl dial them.
        if label.starts(with: "xn--".utf8) {
            guard last != hyphen else { throw hyphenAtEdge(of: text, in: "A-labels") }
            let label = String(Substring(label))
            // The non-ASCII separator makes Foundation decode and re-encode the name instead of passing it through.
            guard encodedHost(label + "\u{3002}a") == label + ".a" else {
                throw HostError(
                    .invalidALabel, expected: "an A-label of IDNA after xn--", found: label.quoted,
                    remedy: "Give the name in Unicode, or the A-label that it maps to.")
            }
        }
    }

    private static let hyphen = UInt8(ascii: "-")

    private static func hyphenAtEdge(of text: String, in labels: String) -> HostError {
        HostError(
            .hyphenAtEdge, expected: "\(labels) without a hyphen at an edge", found: text.quotedAddress,
            remedy: "Remove the hyphen.")
    }

    private static func mapped(_ text: String) throws(HostError) -> String {
        guard let name = encodedHost(text), name.utf8.allSatisfy({ $0 < 0x80 }), !name.utf8.contains(UInt8(ascii: "%"))
        else {
            throw HostError(
                .invalidUnicodeName, expected: "a name that UTS 46 maps to A-labels", found: text.quotedAddress,
                remedy: "Give the name as it is registered, or its A-labels (xn--…).")
        }
        return name.lowercased()
    }

    /// Maps a name by UTS 46, non-transitional. Foundation does it, and percent-encodes a name without a mapping.
    private static func encodedHost(_ text: String) -> String? {
        var parts = URLComponents()
        parts.scheme = "https"
        parts.host = text
        return parts.encodedHost
    }

    private static func isLabelCharacter(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a label is decimal digits, or `0x` with any hexadecimal digits: resolvers read `127.1` and `0x7f000001`
    /// as addresses.
    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        let isDigit: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if label.allSatisfy(isDigit) { return true }
        guard label.starts(with: "0x".utf8) else { return false }
        return label.dropFirst(2).allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    private static func ipv6(of text: String) throws(HostError) -> [UInt8] {
        var address = text[...].utf8
        if address.count <= AddressText.maximumIPv6Bytes + 2 {
            if address.first == UInt8(ascii: "["), address.last == UInt8(ascii: "]") {
                address = address.dropFirst().dropLast()
            }
            if let octets = AddressText.parseIPv6(address) { return octets }
        }
        if address.contains(UInt8(ascii: "%")) {
            throw HostError(
                .zoneIdentifier, expected: "an IPv6 address without a zone", found: text.quotedAddress,
                remedy: "Leave out the % and what follows it.")
        }
        throw HostError(
            .invalidAddress, expected: "a host name or an IPv6 address", found: text.quotedAddress,
            remedy: "Give the port beside the name, not in it, and the scheme of a URL not at all.")
    }

    private static func tooLong(found: Int) -> HostError {
        HostError(
            .tooLong, expected: "a name of at most \(maximumNameBytes) octets", found: "\(found)",
            remedy: "Give a name that can be in the DNS.")
    }
}
