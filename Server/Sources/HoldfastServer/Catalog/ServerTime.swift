public import Foundation
public import Holdfast
import Synchronization

/// The time of a server, as far as it can be believed. What it believes is kept in a file, so that a clock which jumped
/// while the server did not run is noticed as well.
///
/// A time that cannot be believed is an error, which lasts until the clock is right again, or until a person vouches for it
/// (``Catalog/resumeClock(by:)``).
public final class ServerTime: Sendable {
    private struct State {
        var known: ClockGuard
        /// Why the file cannot be read; nil if it can.
        var damage: ServerError?
        /// How often a person has vouched for the clock, as far as this process knows; nil before it has read the audit.
        var resumptions: Int?
        /// Why the clock is not the one that all machines of a database have in common; nil if it is, as far as is known.
        var apart: ServerError?
        /// When the file was written last, on the clock that nobody sets.
        var written: Int64?
    }

    private let clock: any WallClock
    private let steady: SteadyTime
    private let file: URL?
    private let state: Mutex<State>

    /// In seconds: how old the file may be.
    private static let writing: Int64 = 60

    /// Begins with what the file says.
    /// - Parameters:
    ///   - clock: the clock of the machine.
    ///   - steady: the seconds since it started.
    ///   - file: where to keep what was believed; nil for nowhere.
    ///   - spansStops: whether a long stop is to be expected, as with a database that comes out of a backup.
    public init(_ clock: any WallClock, steady: SteadyTime = .system, file: URL? = nil, spansStops: Bool = false) {
        self.clock = clock
        self.steady = steady
        self.file = file
        var state = State(known: ClockGuard(spansStops: spansStops))
        do throws(ServerError) {
            if let file, let bytes = try WholeFile.read(file, limit: ClockGuard.maximumSize) {
                state.known = try ClockGuard(bytes, spansStops: spansStops)
            }
        } catch {
            state.damage = error
        }
        self.state = Mutex(state)
    }

    private var reading: ClockGuard.Reading {
        let wall = Int64(exactly: clock.now.timeIntervalSince1970.rounded(.down)) ?? 0
        return ClockGuard.Reading(wall: wall, steady: steady.seconds, boot: steady.boot)
    }

    /// The time, in seconds since 1970.
    /// - Parameter signed: the last time that was signed, in seconds since 1970; 0 for none.
    /// - Throws: ``ServerError`` `clock`, or what is wrong with the file.
    public func now(after signed: Int64) throws(ServerError) -> Int64 {
        let reading = reading
        let problem = state.withLock { state -> ServerError? in
            if let problem = state.damage ?? state.apart { return problem }
            let problem = state.known.problem(of: reading, signed: signed)
            if problem == nil { state.known.believe(reading) }
            return problem
        }
        if let problem { throw problem }
        return reading.wall
    }

    /// Compares a database's own time.
    /// - Parameters:
    ///   - tolerance: how many seconds the two may differ.
    ///   - lag: for how many seconds the clock may be behind what was signed, by others.
    /// - Throws: as ``now(after:)``, and ``ServerError`` `clock` if the two are not the same.
    func require(
        _ time: Int64, after signed: Int64, within tolerance: Int64 = ClockGuard.tolerance, lag: Int64 = 0
    ) throws(ServerError) {
        let now = try now(after: signed - lag)
        // Nothing is written about a time before the last: documents would look older than their forerunners.
        guard time >= signed, Self.isNear(time, now, tolerance) else {
            throw ServerError(
                .clock, of: "database", expected: "about \(ClockGuard.text(now))", found: ClockGuard.text(time))
        }
    }

    /// Compares the time of a database of many machines, and believes no clock that differs from it until it does no more.
    /// - Parameter tolerance: how many seconds the two may differ.
    func compare(_ time: Int64, within tolerance: Int64) {
        let wall = reading.wall
        let apart: ServerError? =
            if Self.isNear(time, wall, tolerance) {
                nil
            } else {
                ServerError(
                    .clock, expected: "about \(ClockGuard.text(time)), as the database has it",
                    found: ClockGuard.text(wall),
                    remedy: "Set the clock of this machine; it signs again when they differ by at most \(tolerance) s.")
            }
        state.withLock { $0.apart = apart }
    }

    /// Why the clock is not the database's; nil if it is.
    var apart: ServerError? { state.withLock(\.apart) }

    private static func isNear(_ time: Int64, _ other: Int64, _ tolerance: Int64) -> Bool {
        let (difference, overflow) = time.subtractingReportingOverflow(other)
        return !overflow && difference.magnitude <= UInt64(tolerance)
    }

    /// Begins anew if a person has vouched for the clock since.
    /// - Parameter resumptions: how often that has happened, as the audit has it.
    func follow(_ resumptions: Int) {
        let reading = reading
        state.withLock { state in
            if let known = state.resumptions, resumptions > known {
                state.known.restart(at: reading)
                (state.damage, state.written) = (nil, nil)
            }
            state.resumptions = max(state.resumptions ?? 0, resumptions)
        }
    }

    /// Keeps in the file what is believed, at most once a minute. Only one process may do so at a time.
    /// - Throws: ``ServerError`` `file`.
    func note() throws(ServerError) {
        guard let file else { return }
        let now = steady.seconds
        let bytes = state.withLock { state -> [UInt8]? in
            guard state.damage == nil, state.known.anchor != nil,
                state.written.map({ now - $0 >= Self.writing }) ?? true
            else { return nil }
            state.written = now
            return state.known.bytes
        }
        guard let bytes else { return }
        do throws(ServerError) {
            try WholeFile.replace(file, with: bytes)
        } catch {
            state.withLock { $0.written = nil }
            throw error
        }
    }
}
