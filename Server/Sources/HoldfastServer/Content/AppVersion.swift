/// A version of an application or a system, `MAJOR.MINOR.PATCH`, as the reference server compares them.
public struct AppVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The three numbers.
    public let numbers: [Int64]

    /// `MAJOR.MINOR.PATCH`.
    public var description: String { numbers.map(String.init).joined(separator: ".") }

    /// Reads a version; nil if it does not begin with three numbers.
    /// - Parameter octets: three numbers of at most nine digits with periods between, then nothing, or a hyphen and
    ///   anything, which is ignored.
    init?(_ octets: some Collection<UInt8>) {
        let octets = Array(octets)
        guard octets.count <= 255 else { return nil }
        let core = octets.prefix { $0 != UInt8(ascii: "-") }
        // A line break ends what the reference's pattern matches.
        guard octets.allSatisfy({ $0 != 0x0A && $0 != 0x0D }) else { return nil }
        let parts = core.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let numbers = parts.compactMap(Self.number)
        guard parts.count == 3, numbers.count == 3 else { return nil }
        self.numbers = numbers
    }

    /// The first number of the version of a system: of `14.5.1`, or of the API level `31` alone; nil for anything else.
    static func majorOfSystem(_ octets: some Collection<UInt8>) -> Int64? {
        AppVersion(octets)?.numbers.first ?? number(Array(octets)[...])
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...9).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// By the numbers, from left to right.
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
