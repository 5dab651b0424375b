/// Object identifiers, compared as their DER content bytes; the dotted text is for people.
enum ObjectIdentifier {
    /// Identifiers longer than any registered one are shortened.
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

    /// The dotted form of exactly these bytes; nil for a broken encoding, and if ``content(of:)`` refuses it.
    static func dotted(_ content: ArraySlice<UInt8>) -> String? {
        let text = text(content)
        return Self.content(of: text)?.elementsEqual(content) == true ? text : nil
    }

    /// The content bytes of a dotted form (X.690 8.19); nil for any other text, and for arcs above 56 bits.
    static func content(of text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        var arcs: [UInt64] = []
        for part in parts {
            guard (1...17).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part.utf8.count == 1 || part.utf8.first != 0x30, let arc = UInt64(part), arc < 1 << 56
            else { return nil }
            arcs.append(arc)
        }
        guard (2...32).contains(arcs.count), arcs[0] <= 2, arcs[0] == 2 || arcs[1] < 40 else { return nil }
        return ([arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2)).flatMap { arc in
            var octets = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                octets.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            return octets
        }
    }

    private static func hexadecimal(_ content: ArraySlice<UInt8>) -> String { "#" + Hexadecimal.encode(content) }
}
