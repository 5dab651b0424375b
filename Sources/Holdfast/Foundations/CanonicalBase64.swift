/// Base64 in its one canonical spelling (RFC 4648 3.5, 4): the alphabet with `+` and `/`, padded, unused bits zero, no
/// other characters. Different texts always decode to different bytes.
package enum CanonicalBase64 {
    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The decoded bytes; nil if the text is not canonical Base64.
    package static func decode(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        let length = text.count
        guard length % 4 == 0 else { return nil }
        let padded = text.suffix(2).reversed().prefix { $0 == padding }.count
        var octets: [UInt8] = []
        octets.reserveCapacity(length / 4 * 3)
        var bits: UInt32 = 0
        var held = 0
        for character in text.dropLast(padded) {
            guard let value = value(of: character) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            held += 6
            if held >= 8 {
                held -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
            }
        }
        guard bits & (1 << UInt32(held) - 1) == 0 else { return nil }
        return octets
    }

    /// The canonical spelling of these bytes.
    package static func encode(_ octets: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var held = 0
        for octet in octets {
            bits = (bits << 8 | UInt32(octet)) & 0xFFFF
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet[Int(bits >> UInt32(held)) & 0x3F])
            }
        }
        if held > 0 { text.append(alphabet[Int(bits << UInt32(6 - held)) & 0x3F]) }
        while text.count % 4 != 0 { text.append(padding) }
        return String(decoding: text, as: UTF8.self)
    }

    static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
