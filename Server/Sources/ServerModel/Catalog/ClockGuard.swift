package import ServerFoundation

/// Decides whether a time is plausible, from the time of the last signature, the last trusted time, and the seconds
/// that have passed on a monotonic clock.
package struct ClockGuard: Sendable, Hashable {
    /// The readings of a machine's clocks at one moment.
    package struct Reading: Sendable, Hashable {
        /// The wall clock: seconds since 1970.
        let wall: Int64
        /// The monotonic clock: seconds since the start of the machine.
        package let steady: Int64
        /// The identifier of that start of the machine; nil if unknown.
        package let boot: String?

        /// Makes a reading.
        package init(wall: Int64, steady: Int64, boot: String?) {
            self.wall = wall
            self.steady = steady
            self.boot = boot
        }

        /// The seconds since another reading, on the monotonic clock; nil if the machine was restarted in between.
        fileprivate func passed(since other: Reading) -> Int64? {
            guard let boot, let then = other.boot, boot.utf8.elementsEqual(then.utf8), steady >= other.steady else {
                return nil
            }
            return steady - other.steady
        }
    }

    /// Maximum error in seconds: a synchronized clock is never off by more, and clients tolerate it.
    package static let tolerance: Int64 = 600
    /// The wall clock may gain or lose one second in this many: adjusting it changes its rate by at most 500 parts in a
    /// million (adjtimex(2)).
    private static let drift: Int64 = 2_000
    /// Seven days in seconds: after a longer stop, this machine cannot distinguish the stop from a clock that jumped.
    private static let maximumStop: Int64 = 7 * 86_400

    /// The reading that time is measured from: the first trusted one since the machine started. Later ones must not
    /// replace it, or a clock could be moved by ten minutes again and again.
    package private(set) var anchor: Reading?
    /// The last trusted time, in seconds since 1970; 0 for none.
    package private(set) var seen: Int64
    /// Whether another clock confirms the time after a long stop.
    private let spansStops: Bool

    /// Makes a guard from earlier state.
    package init(anchor: Reading? = nil, seen: Int64 = 0, spansStops: Bool = false) {
        self.anchor = anchor
        self.seen = seen
        self.spansStops = spansStops
    }

    /// The reason why a time is not trusted; nil if it is.
    /// - Parameter signed: the time of the last signature, in seconds since 1970; 0 for none.
    package func problem(of reading: Reading, signed: Int64) -> ServerError? {
        let wall = reading.wall
        guard wall >= signed else {
            return Self.problem("a time from \(Self.text(signed)) on, when something was signed last", wall)
        }
        if let anchor, let passed = reading.passed(since: anchor) {
            let (expected, overflow) = anchor.wall.addingReportingOverflow(passed)
            let (difference, other) = wall.subtractingReportingOverflow(expected)
            guard !overflow, !other, difference.magnitude <= Self.tolerance + passed / Self.drift else {
                return Self.problem("about \(Self.text(expected)), by the seconds since the machine started", wall)
            }
            return nil
        }
        let last = max(seen, signed)
        guard last > 0 else { return nil }
        guard wall >= last - Self.tolerance else {
            return Self.problem("a time from \(Self.text(last)) on, when the server ran last", wall)
        }
        guard spansStops || wall - last <= Self.maximumStop else {
            return Self.problem(
                "at most \(Self.text(last + Self.maximumStop)), seven days after the server ran last", wall)
        }
        return nil
    }

    /// Continues from a trusted reading.
    mutating func believe(_ reading: Reading) {
        if anchor.flatMap({ reading.passed(since: $0) }) == nil { anchor = reading }
        seen = max(seen, reading.wall)
    }

    /// Restarts from a reading that a person confirms.
    mutating func restart(at reading: Reading) {
        anchor = reading
        seen = reading.wall
    }

    package static func text(_ seconds: Int64) -> String { UTCText.encode(seconds) ?? "\(seconds)" }

    private static func problem(_ expected: String, _ wall: Int64) -> ServerError {
        ServerError(.clock, expected: expected, found: text(wall))
    }
}

// MARK: In a file

extension ClockGuard {
    private static let header = "holdfast-clock-v1"
    package static let maximumSize = 512

    /// The state for later processes: three lines, the second one with the anchor.
    package var bytes: [UInt8] {
        let anchor = anchor.map { "\($0.wall) \($0.steady) \($0.boot ?? "-")" } ?? "-"
        return Array("\(Self.header)\n\(anchor)\n\(seen)\n".utf8)
    }

    /// Reads what ``bytes`` wrote.
    /// - Throws: ``ServerError`` `malformed`.
    package init(_ bytes: [UInt8], spansStops: Bool) throws(ServerError) {
        var lines = try LineReader(bytes, "clock", limit: Self.maximumSize)
        try lines.line("header", equalTo: Self.header)
        let anchor = try lines.line("anchor", "two numbers and the start of the machine") { line -> Reading?? in
            if line.elementsEqual("-".utf8) { return .some(nil) }
            let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
            guard parts.count == 3, let wall = LineReader.number(parts[0]), let steady = LineReader.number(parts[1]),
                ASCIIText.isPrintable(parts[2], 1...64)
            else { return nil }
            let boot = parts[2].elementsEqual("-".utf8) ? nil : String(decoding: parts[2], as: UTF8.self)
            return Reading(wall: wall, steady: steady, boot: boot)
        }
        let seen = try lines.number("seen", in: 0...CanonicalJSON.maximumInteger)
        try lines.finish()
        self.init(anchor: anchor, seen: seen, spansStops: spansStops)
    }
}
