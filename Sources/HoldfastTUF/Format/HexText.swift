/// Octets in hexadecimal, as metadata writes hashes, signatures and some keys.
package enum HexText {
    /// Reads digits in either case; nil for an odd number of digits, or if something is not a digit.
    package static func octets(of text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let digit = digit(character) else { return nil }
            if let first = high {
                octets.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return octets
    }

    /// Writes lower-case digits.
    package static func text(of octets: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: octets.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }, as: UTF8.self)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
