/// The way of one document to one place, as a state machine without clock and storage: it gets the time, and says what the
/// state is then.
///
/// Every step needs the row's *fence*, a number that grows each time somebody takes the row. An uploader takes it again
/// before each step, so one that was stopped and comes back cannot undo what its successor did: its number is old.
public struct OutboxRow: Sendable, Hashable {
    /// What has happened so far.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Not taken, or to be tried again.
        case waiting
        /// Somebody is uploading it.
        case taken
        /// It is in its place; a client has not yet read it back.
        case uploaded
        /// A client read the same octets at the public URL.
        case confirmed
        /// A newer document for the same place went first; this one must never be uploaded.
        case superseded
    }

    /// The state.
    public private(set) var state: State
    /// Grows each time the row is taken.
    public private(set) var fence: Int64
    /// Until when the holder of the fence may act, in seconds since 1970; 0 if nobody holds it.
    public private(set) var takenUntil: Int64
    /// How many uploads failed.
    public private(set) var failures: Int64
    /// When the next attempt is due, in seconds since 1970.
    public private(set) var dueAt: Int64

    /// An uploader never holds a row for longer than this without taking it again, in seconds.
    public static let longestHold: Int64 = 3_600
    /// The longest pause between attempts, in seconds.
    static let longestPause: Int64 = 900

    /// A row that nobody has touched.
    public init(dueAt: Int64) { self.init(state: .waiting, fence: 0, takenUntil: 0, failures: 0, dueAt: dueAt) }

    /// A row as it was stored.
    init(state: State, fence: Int64, takenUntil: Int64, failures: Int64, dueAt: Int64) {
        self.state = state
        self.fence = fence
        self.takenUntil = takenUntil
        self.failures = failures
        self.dueAt = dueAt
    }

    /// Whether somebody may take the row now.
    public func isDue(at now: Int64) -> Bool {
        switch state {
        case .waiting: dueAt <= now
        case .taken, .uploaded: takenUntil <= now
        case .confirmed, .superseded: false
        }
    }

    /// Takes the row: a stopped uploader's row as well, once its time is over.
    /// - Parameters:
    ///   - now: the time.
    ///   - span: for how many seconds; at most ``longestHold``.
    /// - Returns: the new fence.
    /// - Throws: ``ServerError`` `outOfTurn` if it is not due.
    public mutating func take(at now: Int64, for span: Int64) throws(ServerError) -> Int64 {
        guard isDue(at: now) else { throw Self.outOfTurn("a row that is due", state.rawValue) }
        if state == .waiting { state = .taken }
        return try hold(at: now, for: span)
    }

    /// Takes the row again, before the next step. Whoever had the fence before is out.
    /// - Returns: the new fence.
    /// - Throws: ``ServerError`` `outOfTurn` if another has taken it, or if its time is over.
    public mutating func retake(_ fence: Int64, at now: Int64, for span: Int64) throws(ServerError) -> Int64 {
        try require(fence, at: now)
        return try hold(at: now, for: span)
    }

    /// The document is in its place.
    /// - Throws: ``ServerError`` `outOfTurn`.
    public mutating func uploaded(_ fence: Int64, at now: Int64) throws(ServerError) {
        try require(fence, at: now)
        state = .uploaded
    }

    /// It is in its place, and whoever reads it back may take it at once.
    /// - Throws: ``ServerError`` `outOfTurn`, also before the upload.
    public mutating func handedOn(_ fence: Int64, at now: Int64) throws(ServerError) {
        try require(fence, at: now)
        guard state == .uploaded else { throw Self.outOfTurn("an uploaded document", state.rawValue) }
        takenUntil = 0
    }

    /// A client read the same octets at the public URL.
    /// - Throws: ``ServerError`` `outOfTurn`, also before the upload.
    public mutating func confirmed(_ fence: Int64, at now: Int64) throws(ServerError) {
        try require(fence, at: now)
        guard state == .uploaded else { throw Self.outOfTurn("an uploaded document", state.rawValue) }
        state = .confirmed
        takenUntil = 0
    }

    /// The upload, or reading it back, failed. The next attempt begins with the upload, after a pause that doubles from
    /// five seconds to a quarter of an hour.
    /// - Throws: ``ServerError`` `outOfTurn`.
    public mutating func failed(_ fence: Int64, at now: Int64) throws(ServerError) {
        try require(fence, at: now)
        failures = min(failures, CanonicalJSON.greatestInteger - 1) + 1
        state = .waiting
        takenUntil = 0
        dueAt = now + min(5 << min(failures - 1, 8), Self.longestPause)
    }

    /// A newer document for the same place exists: this one is not uploaded anymore, whoever holds it.
    public mutating func supersede() {
        guard state != .confirmed else { return }
        state = .superseded
        takenUntil = 0
        fence += 1
    }

    private mutating func hold(at now: Int64, for span: Int64) throws(ServerError) -> Int64 {
        guard (1...Self.longestHold).contains(span), fence < CanonicalJSON.greatestInteger else {
            throw Self.outOfTurn("1 to \(Self.longestHold) seconds", "\(span)")
        }
        fence += 1
        takenUntil = now + span
        return fence
    }

    private func require(_ fence: Int64, at now: Int64) throws(ServerError) {
        guard state == .taken || state == .uploaded else {
            throw Self.outOfTurn("a row that is taken", state.rawValue)
        }
        guard fence == self.fence else {
            throw Self.outOfTurn("the fence \(self.fence)", "\(fence)")
        }
        guard now < takenUntil else {
            throw Self.outOfTurn("a step before \(takenUntil)", "one at \(now)")
        }
    }

    private static func outOfTurn(_ expected: String, _ found: String) -> ServerError {
        ServerError(.outOfTurn, of: "outbox", expected: expected, found: found)
    }
}
