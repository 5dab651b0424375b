/// Steele, Lea and Flood's generator: small, and the same sequence on every machine, so that a failure comes again.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = Self.product(mixed ^ (mixed >> 30), 0xBF58_476D_1CE4_E5B9)
        mixed = Self.product(mixed ^ (mixed >> 27), 0x94D0_49BB_1331_11EB)
        return mixed ^ (mixed >> 31)
    }

    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
        left.multipliedReportingOverflow(by: right).partialValue
    }

    /// A number from 0 up to, and not including, `bound`.
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Bytes changed in one to three places.
    mutating func mutated(_ original: [UInt8], tokens: [[UInt8]]) -> [UInt8] {
        var bytes = original
        for _ in 0...below(3) where !bytes.isEmpty {
            let place = below(bytes.count)
            switch below(6) {
            case 0: bytes[place] ^= 1 << UInt8(truncatingIfNeeded: below(8))
            case 1: bytes[place] = UInt8(truncatingIfNeeded: next())
            case 2: bytes.remove(at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + below(40)))
            case 4: bytes.insert(contentsOf: bytes.suffix(from: place).prefix(40), at: place)
            default: bytes.insert(contentsOf: tokens[below(tokens.count)], at: place)
            }
        }
        return bytes
    }
}
