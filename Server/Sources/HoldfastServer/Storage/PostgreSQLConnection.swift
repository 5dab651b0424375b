import CLibPQ
import Foundation
import Holdfast

/// One connection to a database of PostgreSQL. It is used by one thread at a time, which ``PostgreSQLEngine`` sees to.
///
/// Only unnamed statements, and settings and locks that end with their transaction: a pooler in transaction mode gives each
/// transaction another session.
@safe final class PostgreSQLConnection: StorageSession {
    /// What a transaction is for.
    enum Mode: Sendable {
        /// It sees one state from its first statement on, and writes nothing.
        case reading
        /// It is the only one that writes.
        case writing
    }

    /// By what a transaction is found again after its connection broke.
    struct Ticket: Sendable {
        let transaction: String
        /// When the server started: another one may give the same number to another transaction.
        let server: String
        /// Where its last checkpoint is. After a crash there is another one, and numbers that no checkpoint knew are
        /// given again, while the server counts as the same.
        let checkpoint: String
        /// Whether the server that writes still has the right to serve.
        let isHeld: Bool

        /// Whether both say the same database, of which no number was given twice.
        func isOfSameRun(as other: Ticket) -> Bool {
            server.utf8.elementsEqual(other.server.utf8) && checkpoint.utf8.elementsEqual(other.checkpoint.utf8)
        }
    }

    /// What became of a commit.
    enum Commit: Sendable {
        case done
        case refused(ServerError)
        /// No answer came.
        case unknown
    }

    private let connection: OpaquePointer
    private let limits: PostgreSQLLimits
    /// What `{now}` says instead of the database's own time.
    private let clock: (any WallClock)?
    /// What has to be held by whoever writes; nil for a command.
    private let hold: DatabaseLock?
    private var mode = Mode.reading
    /// Whether it can be used no longer.
    private(set) var isBroken = false

    /// The lock of whoever writes or brings tables to their newest version: "HFS1" and a number.
    static let writing: Int64 = 0x4846_5331_0000_0001
    /// Since which version there are transaction numbers that are never used again.
    private static let oldestServer: Int32 = 130_000

    /// Connects.
    /// - Parameters:
    ///   - address: where the database is.
    ///   - limits: how long it may take.
    ///   - clock: what `{now}` says; nil for the database's own time.
    ///   - hold: what a server has while it serves; nil for a command.
    /// - Throws: ``ServerError`` `unreachableDatabase`; `database` for one that cannot be used.
    init(
        _ address: PostgreSQLAddress, limits: PostgreSQLLimits, clock: (any WallClock)?, hold: DatabaseLock? = nil
    ) throws(ServerError) {
        guard let made = unsafe PQconnectdb(address.connectionText) else {
            throw PostgreSQLFailure.unreachable("no memory for a connection")
        }
        unsafe connection = made
        self.limits = limits
        self.clock = clock
        self.hold = hold
        // Otherwise libpq writes what the database says to standard error.
        unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            isBroken = true
            throw Self.refusal(isPasswordMissing: unsafe PQconnectionNeedsPassword(connection) == 1)
        }
        guard unsafe PQserverVersion(connection) >= Self.oldestServer else {
            throw ServerError(
                .database, of: "database", expected: "PostgreSQL 13 or newer", found: "an older one",
                remedy: "Use a newer PostgreSQL.")
        }
        let encoding = unsafe PQparameterStatus(connection, "server_encoding").map { unsafe String(cString: $0) }
        guard encoding.map({ $0.utf8.elementsEqual("UTF8".utf8) }) ?? false else {
            throw ServerError(
                .database, of: "database", expected: "a database with the encoding UTF8", found: "another encoding",
                remedy: "Create it with: CREATE DATABASE name OWNER role ENCODING 'UTF8' TEMPLATE template0.")
        }
        // What is sent must not wait for ever for a database that takes nothing.
        guard unsafe PQsetnonblocking(connection, 1) == 0 else { throw broken() }
    }

    deinit { unsafe PQfinish(connection) }

    /// What libpq says about it may name users and hosts: it is in the database's own log.
    private static func refusal(isPasswordMissing: Bool) -> ServerError {
        ServerError(
            .unreachableDatabase, of: "database", expected: "a database that answers and lets this server in",
            found: isPasswordMissing ? "one that wants a password" : "no connection",
            remedy: isPasswordMissing
                ? "Put the password into a file and name it in the address: ?passfile=FILE."
                : "Check host, port, role, password and the authorities of its certificate; its own log says more.")
    }

    // MARK: Transactions

    /// Begins a transaction. Limits are set for it alone.
    /// - Returns: by what a transaction that writes is found again.
    func begin(_ mode: Mode) throws(ServerError) -> Ticket? {
        self.mode = mode
        let limits = """
            SET LOCAL statement_timeout = \(PostgreSQLLimits.milliseconds(limits.statement)); \
            SET LOCAL lock_timeout = \(PostgreSQLLimits.milliseconds(limits.turn)); \
            SET LOCAL idle_in_transaction_session_timeout = \(PostgreSQLLimits.milliseconds(limits.idle))
            """
        switch mode {
        case .reading:
            // Nothing here takes the state that it sees: that is the one of its first statement, as on SQLite.
            try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(limits)")
            return nil
        case .writing:
            // One transaction writes at a time, whatever process it is of, as on SQLite. So what is written above an engine
            // runs once and finds what it has read unchanged: with SERIALIZABLE it would have to be able to run again, and
            // would have to, since every change goes on from the end of the audit. After the lock each statement sees all
            // that was committed before (READ COMMITTED).
            let rows = try execute(
                """
                BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \(limits); \
                SELECT set_config('synchronous_commit', 'on', true) \
                WHERE current_setting('synchronous_commit') = 'off'; \
                SELECT pg_advisory_xact_lock(\(Self.writing)); \
                SELECT CAST(pg_current_xact_id() AS text), CAST(pg_postmaster_start_time() AS text), \
                (SELECT CAST(checkpoint_lsn AS text) FROM pg_control_checkpoint()), \
                \(hold.map(\.state) ?? "'held'")
                """)
            guard let row = rows.first else { throw PostgreSQLFailure.unreachable("no row") }
            return Ticket(
                transaction: try row.text(0), server: try row.text(1), checkpoint: try row.text(2),
                isHeld: try row.text(3) == "held")
        }
    }

    /// Commits.
    func commit() -> Commit {
        guard unsafe PQsendQuery(connection, "COMMIT") == 1 else {
            // Nothing says how much of it has left.
            isBroken = true
            return .unknown
        }
        let results: [PostgreSQLResult]
        do throws(ServerError) { results = try answers() } catch { return .unknown }
        guard let result = results.last else { return .unknown }
        if let error = result.error { return isBroken || result.saysEnd ? .unknown : .refused(error) }
        // A transaction of which a statement failed is rolled back by it.
        return result.command.elementsEqual("COMMIT".utf8)
            ? .done
            : .refused(
                ServerError(
                    .database, of: "database", expected: "a transaction whose statements all succeeded",
                    found: "one of which a statement failed; nothing was written"))
    }

    /// Ends a transaction without any of it. What cannot be rolled back is not kept either.
    func rollback() {
        guard !isBroken else { return }
        do throws(ServerError) { try execute("ROLLBACK") } catch { isBroken = true }
    }

    // MARK: Statements

    /// Runs statements of this program without parameters, such as those of a migration.
    /// - Returns: the rows of the last one; all of their values are texts.
    @discardableResult
    func execute(_ text: String) throws(ServerError) -> [StorageRow] {
        guard !isBroken, unsafe PQsendQuery(connection, text) == 1 else { throw broken() }
        return try rows()
    }

    /// Writes all that this transaction sees into a new file of SQLite: a backup is the same wherever a server keeps its
    /// data.
    func copy(to file: URL) throws(ServerError) {
        try SQLiteConnection.create(file)
        let target = try SQLiteConnection(file.path, clock: clock ?? SystemWallClock())
        try target.prepare()
        try SQLiteMigrations.run(on: target)
        try target.execute("BEGIN IMMEDIATE")
        for table in try StorageTable.all(of: target) {
            try table.forEachPart(of: self) { rows throws(ServerError) in try table.insert(rows, into: target) }
        }
        try target.execute("COMMIT")
        // One file has everything then.
        try target.execute("PRAGMA journal_mode = DELETE")
    }

    @discardableResult
    func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
        try run(text: query.rendered(for: dialect), values)
    }

    @discardableResult
    func run(text: String, _ values: [StorageValue] = []) throws(ServerError) -> [StorageRow] {
        try StorageValue.requireStorable(values)
        guard !isBroken, send(text, values) else { throw broken() }
        return try rows()
    }

    /// What queries name. Rows are only locked by what may write.
    private var dialect: Query.Dialect {
        let time = clock.map { "CAST(\(Int64($0.now.timeIntervalSince1970.rounded(.down))) AS bigint)" }
        let isWriting = mode == .writing
        return Query.Dialect(
            now: time ?? "CAST(floor(extract(epoch FROM clock_timestamp())) AS bigint)",
            lock: isWriting ? "FOR UPDATE" : "", skip: isWriting ? "SKIP LOCKED" : "", blob: "BYTEA")
    }

    /// Sends a statement with its values, all binary: what they are is said beside it and never found out from their look.
    private func send(_ text: String, _ values: [StorageValue]) -> Bool {
        var bytes: [UInt8] = []
        var (types, starts, lengths): ([Oid], [Int?], [Int32]) = ([], [], [])
        for value in values {
            let start = bytes.count
            switch value {
            case .null: types.append(0)
            case .integer(let number):
                types.append(PostgreSQLResult.integer)
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: number >> shift))
                }
            case .text(let text):
                types.append(PostgreSQLResult.text)
                bytes.append(contentsOf: text.utf8)
            case .bytes(let more):
                types.append(PostgreSQLResult.bytes)
                bytes.append(contentsOf: more)
            }
            starts.append(value == .null ? nil : start)
            lengths.append(Int32(clamping: bytes.count - start))
        }
        // Without an byte there may be no address, which would be null.
        bytes.append(0)
        let formats = [Int32](repeating: 1, count: values.count)
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: buffer.count) { base in
                let places = unsafe starts.map { start in unsafe start.map { unsafe base + $0 } }
                return unsafe PQsendQueryParams(
                    connection, text, Int32(values.count), types, places, lengths, formats, 1) == 1
            }
        }
    }

    private func rows() throws(ServerError) -> [StorageRow] {
        let results = try answers()
        if let error = results.lazy.compactMap(\.error).first {
            if results.contains(where: \.saysEnd) { isBroken = true }
            throw error
        }
        return try results.last?.rows() ?? []
    }

    /// Waits for all that the database answers to what was sent.
    /// - Throws: ``ServerError`` `unreachableDatabase` if it takes too long, or the connection breaks.
    private func answers() throws(ServerError) -> [PostgreSQLResult] {
        let deadline = ContinuousClock.now + limits.statement + limits.grace
        try send(until: deadline)
        var results: [PostgreSQLResult] = []
        while true {
            while unsafe PQisBusy(connection) == 1 {
                guard try wait(for: POLLIN, until: deadline), unsafe PQconsumeInput(connection) == 1 else {
                    throw broken()
                }
            }
            guard let result = unsafe PQgetResult(connection) else { break }
            results.append(unsafe PostgreSQLResult(result))
        }
        // Without an answer of the database, libpq makes one up.
        if unsafe PQstatus(connection) != CONNECTION_OK { isBroken = true }
        return results
    }

    /// Sends what is left of a statement. What the database says meanwhile is read, or it would stop reading itself.
    private func send(until deadline: ContinuousClock.Instant) throws(ServerError) {
        while true {
            let left = unsafe PQflush(connection)
            guard left == 1 else {
                guard left == 0 else { throw broken() }
                return
            }
            guard try wait(for: POLLIN | POLLOUT, until: deadline), unsafe PQconsumeInput(connection) == 1 else {
                throw broken()
            }
        }
    }

    /// How long what OpenSSL has decrypted may lie there: the socket says nothing of it.
    private static let look: Int64 = 50

    private func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws(ServerError) -> Bool {
        let isEncrypted = unsafe PQsslInUse(connection) == 1
        while true {
            let left = PostgreSQLLimits.milliseconds(deadline - ContinuousClock.now)
            guard left > 0 else {
                isBroken = true
                throw PostgreSQLFailure.unreachable("none in time")
            }
            var descriptor = pollfd(fd: unsafe PQsocket(connection), events: Int16(events), revents: 0)
            let count = unsafe poll(&descriptor, 1, Int32(clamping: isEncrypted ? min(left, Self.look) : left))
            if count > 0 || count == 0 && isEncrypted { return true }
            if count < 0, errno != EINTR { return false }
        }
    }

    private func broken() -> ServerError {
        isBroken = true
        return PostgreSQLFailure.unreachable("a connection that broke")
    }
}
