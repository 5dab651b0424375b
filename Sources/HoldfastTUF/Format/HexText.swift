import Holdfast

/// Bytes in hexadecimal, as metadata writes hashes, signatures and some keys.
package enum HexText {
    /// Reads digits in either case; nil for an odd number of digits, or if something is not a digit.
    package static func octets(of text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let digit = Hexadecimal.value(of: character) else { return nil }
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
        Hexadecimal.encode(Array(octets))
    }
}
