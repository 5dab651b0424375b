/// The generator of Steele, Lea and Flood: small, with the same sequence on every machine, so that failures are
/// reproducible.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = Self.product(mixed ^ (mixed >> 30), 0xBF58_476D_1CE4_E5B9)
        mixed = Self.product(mixed ^ (mixed >> 27), 0x94D0_49BB_1331_11EB)
        return mixed ^ (mixed >> 31)
    }

    /// Multiplies modulo 2^64. It does not use `&*`, for which the compiler may pick a declaration that needs iOS 18.
    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
        left.multipliedReportingOverflow(by: right).partialValue
    }

    /// The bytes with changes in one to four places: a bit is flipped, or bytes are replaced, removed or repeated, or
    /// one of `tokens` is inserted.
    package mutating func mutated(_ original: [UInt8], tokens: [[UInt8]]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let place = Int.random(in: 0...bytes.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 2 where place < bytes.count: bytes.remove(at: place)
            case 3: bytes.insert(contentsOf: bytes.suffix(from: place).prefix(40), at: place)
            default: bytes.insert(contentsOf: tokens.randomElement(using: &self) ?? [0], at: place)
            }
        }
        return bytes
    }
}
