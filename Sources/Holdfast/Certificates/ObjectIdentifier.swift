/// Object identifiers, compared as their DER content octets; the dotted text is for people.
enum ObjectIdentifier {
    /// Longer ones than any that was ever registered print in part.
    private static let maximumPrintedOctets = 48

    /// The dotted form, for example `1.3.6.1.5.5.7.3.1`; arcs above 56 bits and broken encodings print as hexadecimal.
    static func text(_ content: ArraySlice<UInt8>) -> String {
        guard content.count <= maximumPrintedOctets else {
            return hexadecimal(content.prefix(maximumPrintedOctets)) + "…"
        }
        var arcs: [UInt64] = []
        var value: UInt64 = 0
        for (offset, byte) in content.enumerated() {
            guard value <= UInt64.max >> 8 else { return hexadecimal(content) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 {
                if arcs.isEmpty {
                    let first = min(value / 40, 2)
                    arcs = [first, value - first * 40]
                } else {
                    arcs.append(value)
                }
                value = 0
            } else if offset == content.count - 1 {
                return hexadecimal(content)
            }
        }
        return arcs.isEmpty ? hexadecimal(content) : arcs.map { String($0) }.joined(separator: ".")
    }

    private static func hexadecimal(_ content: ArraySlice<UInt8>) -> String {
        "#" + content.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
