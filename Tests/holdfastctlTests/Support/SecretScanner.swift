import Foundation

/// Finds eight bytes in a row of a secret in printed text: in Base64 at any alignment, in hexadecimal of either case,
/// and as they are, also where white space, colons or quotation marks stand between.
struct SecretScanner {
    private var base64: Set<UInt64> = []
    private var octets: Set<UInt64> = []

    private static let length = 8

    init(_ secrets: [[UInt8]]) {
        for secret in secrets where secret.count >= Self.length {
            for start in 0...(secret.count - Self.length) {
                let window = Array(secret[start..<start + Self.length])
                octets.insert(window.reduce(0) { $0 << 8 | UInt64($1) })
                for shift in 0..<3 { base64.insert(Self.sextets(of: window, after: shift)) }
            }
        }
    }

    /// The ten characters of Base64 that the window alone decides, behind so many other bytes.
    private static func sextets(of window: [UInt8], after shift: Int) -> UInt64 {
        let whole = [UInt8](repeating: 0, count: shift) + window + [0, 0]
        let first = (8 * shift + 5) / 6
        return (first..<first + 10).reduce(0) { key, index in
            let bit = index * 6
            let pair = UInt16(whole[bit / 8]) << 8 | UInt16(whole[bit / 8 + 1])
            return key << 6 | UInt64(pair >> (10 - UInt16(bit % 8)) & 0x3F)
        }
    }

    func finds(in text: String) -> Bool {
        let printed = Array(text.utf8)
        let joined = printed.filter { !" \t\r\n:\"'\\".utf8.contains($0) }
        return [printed, joined].contains { text in
            contains(text, base64, count: 10, bits: 6, Self.sextet)
                || contains(text, octets, count: 16, bits: 4, Self.digit)
                || contains(text, octets, count: 8, bits: 8) { UInt64($0) }
        }
    }

    private func contains(
        _ text: [UInt8], _ keys: Set<UInt64>, count: Int, bits: UInt64, _ value: (UInt8) -> UInt64?
    ) -> Bool {
        let mask = count * Int(bits) == 64 ? UInt64.max : (1 << (UInt64(count) * bits)) - 1
        var key: UInt64 = 0
        var run = 0
        for octet in text {
            guard let digit = value(octet) else {
                run = 0
                continue
            }
            key = (key << bits | digit) & mask
            run += 1
            if run >= count, keys.contains(key) { return true }
        }
        return false
    }

    private static func sextet(_ octet: UInt8) -> UInt64? {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(octet) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt64(octet) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(octet) + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static func digit(_ octet: UInt8) -> UInt64? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(octet) - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(octet) - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(octet) - 55
        default: nil
        }
    }
}
