/// Decides whether a time can be right: from the last time that was signed, the last that was believed, and the seconds
/// that have passed on a clock which nobody sets.
public struct ClockGuard: Sendable, Hashable {
    /// What the clocks of a machine say at one moment.
    public struct Reading: Sendable, Hashable {
        /// The clock that may be set: seconds since 1970.
        public let wall: Int64
        /// The clock that may not: seconds since the start of the machine.
        public let steady: Int64
        /// Which start of the machine that was; nil if nobody can tell.
        public let boot: String?

        /// States what the clocks say.
        public init(wall: Int64, steady: Int64, boot: String?) {
            self.wall = wall
            self.steady = steady
            self.boot = boot
        }

        /// The seconds since another reading, on the clock that nobody sets; nil if the machine was started in between.
        fileprivate func passed(since other: Reading) -> Int64? {
            guard let boot, let then = other.boot, boot.utf8.elementsEqual(then.utf8), steady >= other.steady else {
                return nil
            }
            return steady - other.steady
        }
    }

    /// In seconds: more than a clock that is kept right is ever wrong, and less than clients mind.
    static let tolerance: Int64 = 600
    /// A clock that is kept right is slowed down or sped up by at most 500 parts in a million (adjtimex(2)).
    private static let drift: Int64 = 2_000
    /// In seconds, seven days: after a longer stop, nothing on this machine tells the stop from a clock that jumped.
    private static let maximumStop: Int64 = 7 * 86_400

    /// What time is measured from: the first reading since the machine started that was believed. Later ones must not take
    /// its place, or a clock could be moved by ten minutes again and again.
    public private(set) var anchor: Reading?
    /// The last time that was believed, in seconds since 1970; 0 for none.
    public private(set) var seen: Int64
    /// Whether somebody else vouches for the time after a long stop.
    private let spansStops: Bool

    /// Begins with what is known.
    public init(anchor: Reading? = nil, seen: Int64 = 0, spansStops: Bool = false) {
        self.anchor = anchor
        self.seen = seen
        self.spansStops = spansStops
    }

    /// Why a time cannot be believed; nil if it can.
    /// - Parameter signed: the last time that was signed, in seconds since 1970; 0 for none.
    public func problem(of reading: Reading, signed: Int64) -> ServerError? {
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

    /// Goes on from a reading that was believed.
    public mutating func believe(_ reading: Reading) {
        if anchor.flatMap({ reading.passed(since: $0) }) == nil { anchor = reading }
        seen = max(seen, reading.wall)
    }

    /// Begins anew with a reading that a person vouches for.
    public mutating func restart(at reading: Reading) {
        anchor = reading
        seen = reading.wall
    }

    static func text(_ seconds: Int64) -> String { UTCText.encode(seconds) ?? "\(seconds)" }

    private static func problem(_ expected: String, _ wall: Int64) -> ServerError {
        ServerError(.clock, expected: expected, found: text(wall))
    }
}

// MARK: In a file

extension ClockGuard {
    private static let header = "holdfast-clock-v1"
    static let maximumSize = 512

    /// What a later process continues from: three lines, the second one with the anchor.
    var bytes: [UInt8] {
        let anchor = anchor.map { "\($0.wall) \($0.steady) \($0.boot ?? "-")" } ?? "-"
        return Array("\(Self.header)\n\(anchor)\n\(seen)\n".utf8)
    }

    /// Reads what ``bytes`` wrote.
    /// - Throws: ``ServerError`` `malformed`.
    init(_ bytes: [UInt8], spansStops: Bool) throws(ServerError) {
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
