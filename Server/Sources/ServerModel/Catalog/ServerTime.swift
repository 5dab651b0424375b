package import Foundation
package import Holdfast
package import ServerFoundation
import Synchronization

/// The time of a server, as far as it is trusted. The trusted time is saved in a file, to detect a clock that jumped
/// while the server was not running.
///
/// An implausible time is an error, which lasts until the clock is right again, or until a person confirms it
/// (``Catalog/resumeClock(by:)``).
package final class ServerTime: Sendable {
    private struct State {
        var known: ClockGuard
        /// The reason why the file cannot be read; nil if it can.
        var damage: ServerError?
        /// The number of times that a person has confirmed the clock, as far as this process knows; nil before it has
        /// read the audit.
        var resumptions: Int?
        /// The difference from the clock that all machines of a database share; nil if there is none, as far as known.
        var apart: ServerError?
        /// The time of the last write of the file, on the monotonic clock.
        var written: Int64?
    }

    private let clock: any WallClock
    private let steady: SteadyTime
    private let file: URL?
    private let state: Mutex<State>

    /// Maximum age of the file in seconds.
    private static let writing: Int64 = 60

    /// Begins with the state in the file.
    /// - Parameters:
    ///   - clock: the clock of the machine.
    ///   - steady: the seconds since it started.
    ///   - file: the file for the trusted time; nil for none.
    ///   - spansStops: whether to expect a long stop, as with a database restored from a backup.
    package init(_ clock: any WallClock, steady: SteadyTime = .system, file: URL? = nil, spansStops: Bool = false) {
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
    /// - Parameter signed: the time of the last signature, in seconds since 1970; 0 for none.
    /// - Throws: ``ServerError`` `clock`, or the problem with the file.
    package func now(after signed: Int64) throws(ServerError) -> Int64 {
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

    /// Requires that the database's clock agrees.
    /// - Parameters:
    ///   - tolerance: the maximum difference in seconds.
    ///   - lag: the number of seconds that the clock may be behind the last signature by another machine.
    /// - Throws: as ``now(after:)``, and ``ServerError`` `clock` if the two differ.
    package func require(
        _ time: Int64, after signed: Int64, within tolerance: Int64 = ClockGuard.tolerance, lag: Int64 = 0
    ) throws(ServerError) {
        let now = try now(after: signed - lag)
        // Write nothing with a time before the last: documents would look older than their predecessors.
        guard time >= signed, Self.isNear(time, now, tolerance) else {
            throw ServerError(
                .clock, of: "database", expected: "about \(ClockGuard.text(now))", found: ClockGuard.text(time))
        }
    }

    /// Compares the clock with that of a database of many machines, and trusts the clock again only once they agree.
    /// - Parameter tolerance: the maximum difference in seconds.
    package func compare(_ time: Int64, within tolerance: Int64) {
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

    /// The difference from the database's clock; nil if there is none.
    package var apart: ServerError? { state.withLock(\.apart) }

    private static func isNear(_ time: Int64, _ other: Int64, _ tolerance: Int64) -> Bool {
        let (difference, overflow) = time.subtractingReportingOverflow(other)
        return !overflow && difference.magnitude <= UInt64(tolerance)
    }

    /// Restarts if a person has confirmed the clock since.
    /// - Parameter resumptions: the number of confirmations in the audit.
    package func follow(_ resumptions: Int) {
        let reading = reading
        state.withLock { state in
            if let known = state.resumptions, resumptions > known {
                state.known.restart(at: reading)
                (state.damage, state.written) = (nil, nil)
            }
            state.resumptions = max(state.resumptions ?? 0, resumptions)
        }
    }

    /// Saves the trusted time in the file, at most once a minute. Only one process may do so at a time.
    /// - Throws: ``ServerError`` `file`.
    package func note() throws(ServerError) {
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
