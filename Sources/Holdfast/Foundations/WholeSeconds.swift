package import struct Foundation.Date

extension Date {
    /// The seconds since 1970, without their fraction: certificates, pins and documents state their times in whole
    /// seconds.
    ///
    /// A time that is not a number, or too large for one, is later than all others: nothing is valid at that time.
    package var wholeSeconds: Int64 {
        let seconds = timeIntervalSince1970.rounded(.down)
        guard seconds.isFinite, abs(seconds) < 1e15 else { return .max }
        return Int64(seconds)
    }

    /// An instant that was stated in whole seconds since 1970.
    package init(wholeSeconds: Int64) { self.init(timeIntervalSince1970: Double(wholeSeconds)) }

    /// The first instant after a validity, in seconds since 1970; at most `.distantFuture`.
    package init(end: Int64) { self = min(Date(wholeSeconds: end), .distantFuture) }
}
