/// JSON with exactly one spelling of each value: no white space, members sorted by the octets of their keys, integers of
/// at most 53 bits, text escaped only where RFC 8259 7 demands it, and there as RFC 8785 3.2.2.2 has it. Python's
/// `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)` writes the same octets.
///
/// Keys are names of fields: 1 to 64 ASCII letters, digits, hyphens and underscores.
public enum CanonicalJSON: Sendable, Hashable {
    /// `true` or `false`.
    case boolean(Bool)
    /// An integer.
    case integer(Int64)
    /// Text, as valid UTF-8.
    case text([UInt8])
    /// An array.
    case array([CanonicalJSON])
    /// An object; the members in any order.
    case object([String: CanonicalJSON])

    /// The greatest integer that every JSON reader keeps exactly (RFC 8259 6).
    static let greatestInteger: Int64 = 9_007_199_254_740_991
    /// Deeper than any content nests.
    static let depth = 16

    /// A text.
    package static func text(_ text: String) -> CanonicalJSON { .text(Array(text.utf8)) }

    /// The only spelling.
    public var octets: [UInt8] {
        var octets: [UInt8] = []
        write(to: &octets)
        return octets
    }

    private func write(to octets: inout [UInt8]) {
        switch self {
        case .boolean(let value): octets += (value ? "true" : "false").utf8
        case .integer(let value): octets += String(value).utf8
        case .text(let text): Self.write(text, to: &octets)
        case .array(let elements):
            octets.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { octets.append(UInt8(ascii: ",")) }
                element.write(to: &octets)
            }
            octets.append(UInt8(ascii: "]"))
        case .object(let members):
            octets.append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { octets.append(UInt8(ascii: ",")) }
                Self.write(member.key.utf8, to: &octets)
                octets.append(UInt8(ascii: ":"))
                member.value.write(to: &octets)
            }
            octets.append(UInt8(ascii: "}"))
        }
    }

    private static func write<Text: Collection<UInt8>>(_ text: Text, to octets: inout [UInt8]) {
        octets.append(UInt8(ascii: "\""))
        var rest = text[...]
        // Most texts have nothing to escape.
        while let place = rest.firstIndex(where: needsEscape) {
            octets += rest[..<place]
            if let short = shortEscapes[rest[place]] {
                octets += [UInt8(ascii: "\\"), short]
            } else {
                octets += "\\u00\(Hex.encode([rest[place]]))".utf8
            }
            rest = rest[place...].dropFirst()
        }
        octets += rest
        octets.append(UInt8(ascii: "\""))
    }

    /// Whether a text has an octet as it is only behind a backslash.
    static func needsEscape(_ octet: UInt8) -> Bool {
        octet < 0x20 || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\")
    }

    /// The control characters that have an escape of two characters, and the two characters that must have one.
    static let shortEscapes: [UInt8: UInt8] = [
        0x08: UInt8(ascii: "b"), 0x09: UInt8(ascii: "t"), 0x0A: UInt8(ascii: "n"), 0x0C: UInt8(ascii: "f"),
        0x0D: UInt8(ascii: "r"), 0x22: UInt8(ascii: "\""), 0x5C: UInt8(ascii: "\\"),
    ]
}
