/// JSON with exactly one spelling of each value: no white space, members sorted by the bytes of their keys, integers of
/// at most 53 bits, text escaped only where RFC 8259 7 requires it, and then as RFC 8785 3.2.2.2 specifies. Python's
/// `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)` writes the same bytes.
///
/// Keys are names of fields: 1 to 64 ASCII letters, digits, hyphens and underscores.
package enum CanonicalJSON: Sendable, Hashable {
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

    /// The largest integer that every JSON reader represents exactly (RFC 8259 6).
    package static let maximumInteger: Int64 = 9_007_199_254_740_991
    /// Maximum depth; no content nests deeper.
    package static let depth = 16

    /// A text.
    package static func text(_ text: String) -> CanonicalJSON { .text(Array(text.utf8)) }

    /// The canonical bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .text(let text): Self.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.key.utf8, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write<Text: Collection<UInt8>>(_ text: Text, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var rest = text[...]
        // Most texts have nothing to escape.
        while let place = rest.firstIndex(where: needsEscape) {
            bytes += rest[..<place]
            if let short = shortEscapes[rest[place]] {
                bytes += [UInt8(ascii: "\\"), short]
            } else {
                bytes += "\\u00\(Hex.encode([rest[place]]))".utf8
            }
            rest = rest[place...].dropFirst()
        }
        bytes += rest
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a byte may only appear in a text after a backslash.
    static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The control characters that have an escape of two characters, and the two characters that must have one.
    static let shortEscapes: [UInt8: UInt8] = [
        0x08: UInt8(ascii: "b"), 0x09: UInt8(ascii: "t"), 0x0A: UInt8(ascii: "n"), 0x0C: UInt8(ascii: "f"),
        0x0D: UInt8(ascii: "r"), 0x22: UInt8(ascii: "\""), 0x5C: UInt8(ascii: "\\"),
    ]
}
