extension PinFile {
    /// The time at which a store downloads a newer file, and the time for which it keeps an old one.
    package struct Refresh: Sendable, Hashable {
        /// Seconds after which a store downloads a newer file.
        package let after: Int
        /// The share of `after` over which the devices of an app are spread, so that they do not all send requests at
        /// once.
        package let jitter: Fraction
        /// Seconds past the file's notAfter for which its pins are still enforced.
        package let grace: Int

        /// Makes the times; `after` is at least a second, and both spans are at most ten years.
        /// - Throws: ``PinFileError`` `invalidValue`.
        package init(after: Int, jitter: Fraction = .zero, grace: Int = 0) throws(PinFileError) {
            for (field, value, least) in [("after", after, 1), ("grace", grace, 0)]
            where !(least...Int(PinFileLimits.span)).contains(value) {
                throw PinFileError(
                    .invalidValue, at: field, expected: "\(least) to \(PinFileLimits.span) seconds", found: "\(value)")
            }
            self.after = after
            self.jitter = jitter
            self.grace = grace
        }
    }

    /// A number between 0 and 1 in millionths, which is exact, unlike a binary number.
    package struct Fraction: Sendable, Hashable {
        /// From 0 to 1,000,000.
        package let millionths: Int

        /// 0.
        package static let zero = Fraction(uncheckedMillionths: 0)
        /// 1.
        package static let one = Fraction(uncheckedMillionths: 1_000_000)

        /// Makes a fraction; the result is nil outside of 0 to 1,000,000.
        package init?(millionths: Int) {
            guard (0...1_000_000).contains(millionths) else { return nil }
            self.millionths = millionths
        }

        private init(uncheckedMillionths: Int) { millionths = uncheckedMillionths }

        /// The nearest binary number.
        package var value: Double { Double(millionths) / 1_000_000 }
    }
}
