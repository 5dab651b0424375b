import CLibPQ
package import Foundation
import Holdfast
package import ServerFoundation

/// One connection to a database of PostgreSQL. ``PostgreSQLEngine`` ensures that only one thread uses it at a time.
///
/// Uses only unnamed statements, and settings and locks that end with their transaction: a pooler in transaction mode
/// gives each transaction another session.
@safe package final class PostgreSQLConnection: StorageSession {
    /// The purpose of a transaction.
    enum Mode: Sendable {
        /// Sees one snapshot from its first statement on, and writes nothing.
        case reading
        /// The only transaction that writes.
        case writing
    }

    /// The data that identifies a transaction after its connection broke.
    struct Ticket: Sendable {
        let transaction: String
        /// The start time of the server: another server may give the same number to another transaction.
        let server: String
        /// The location of the last checkpoint. It changes after a crash, when numbers that no checkpoint contains are
        /// given again without a new start time.
        let checkpoint: String
        /// Whether the server that writes still has the right to serve.
        let isHeld: Bool

        /// Whether both are of the same run of the server, in which no number was given twice.
        func isOfSameRun(as other: Ticket) -> Bool {
            server.utf8.elementsEqual(other.server.utf8) && checkpoint.utf8.elementsEqual(other.checkpoint.utf8)
        }
    }

    /// The outcome of a commit.
    enum Commit: Sendable {
        case done
        case refused(ServerError)
        /// No response arrived.
        case unknown
    }

    private let connection: OpaquePointer
    private let limits: PostgreSQLLimits
    /// The clock behind `{now}` instead of the database's own time.
    private let clock: (any WallClock)?
    /// The lock that a server must hold to write; nil for a command.
    private let hold: DatabaseLock?
    private var mode = Mode.reading
    /// Whether the connection is no longer usable.
    private(set) var isBroken = false

    /// The lock of transactions that write or migrate tables: "HFS1" and a number.
    static let writing: Int64 = 0x4846_5331_0000_0001
    /// The first version with transaction numbers that are never reused.
    private static let oldestServer: Int32 = 130_000

    /// Connects.
    /// - Parameters:
    ///   - address: the address of the database.
    ///   - limits: the time limits.
    ///   - clock: the clock behind `{now}`; nil for the database's own time.
    ///   - hold: the lock of a server; nil for a command.
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
        // Otherwise libpq writes notices of the database to standard error.
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
        // Sending must not block forever if the database stops reading.
        guard unsafe PQsetnonblocking(connection, 1) == 0 else { throw broken() }
    }

    deinit { unsafe PQfinish(connection) }

    /// libpq's own message may name users and hosts, so it is not passed on: the database's log contains it.
    private static func refusal(isPasswordMissing: Bool) -> ServerError {
        ServerError(
            .unreachableDatabase, of: "database", expected: "a database that answers and lets this server in",
            found: isPasswordMissing ? "one that requires a password" : "no connection",
            remedy: isPasswordMissing
                ? "Put the password into a file and name it in the address: ?passfile=FILE."
                : "Check host, port, role, password and the authorities of its certificate; its own log says more.")
    }

    // MARK: Transactions

    /// Begins a transaction. Limits are set for it alone.
    /// - Returns: the identification of a transaction that writes.
    func begin(_ mode: Mode) throws(ServerError) -> Ticket? {
        self.mode = mode
        let limits = """
            SET LOCAL statement_timeout = \(PostgreSQLLimits.milliseconds(limits.statement)); \
            SET LOCAL lock_timeout = \(PostgreSQLLimits.milliseconds(limits.turn)); \
            SET LOCAL idle_in_transaction_session_timeout = \(PostgreSQLLimits.milliseconds(limits.idle))
            """
        switch mode {
        case .reading:
            // None of these statements takes the snapshot: the first statement afterwards does, as on SQLite.
            try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(limits)")
            return nil
        case .writing:
            // Only one transaction writes at a time, across all processes, as on SQLite. So code above the engine runs
            // once, and what it has read stays unchanged. SERIALIZABLE would require it to retry, and retries would be
            // frequent, because every change continues from the end of the audit. After the lock, each statement sees
            // all that was committed before (READ COMMITTED).
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
            // It is unknown how much of the statement was sent.
            isBroken = true
            return .unknown
        }
        let results: [PostgreSQLResult]
        do throws(ServerError) { results = try answers() } catch { return .unknown }
        guard let result = results.last else { return .unknown }
        if let error = result.error { return isBroken || result.saysEnd ? .unknown : .refused(error) }
        // COMMIT rolls back a transaction in which a statement failed.
        return result.command.elementsEqual("COMMIT".utf8)
            ? .done
            : .refused(
                ServerError(
                    .database, of: "database", expected: "a transaction whose statements all succeeded",
                    found: "one of which a statement failed; nothing was written"))
    }

    /// Rolls a transaction back. A connection on which this fails is dropped.
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

    /// Writes everything that this transaction sees into a new SQLite file: a backup has the same format for every
    /// engine.
    package func copy(to file: URL) throws(ServerError) {
        try SQLiteConnection.create(file)
        let target = try SQLiteConnection(file.path, clock: clock ?? SystemWallClock())
        try target.prepare()
        try SQLiteMigrations.run(on: target)
        try target.execute("BEGIN IMMEDIATE")
        for table in try StorageTable.all(of: target) {
            try table.forEachPart(of: self) { rows throws(ServerError) in try table.insert(rows, into: target) }
        }
        try target.execute("COMMIT")
        // Leaves everything in one file.
        try target.execute("PRAGMA journal_mode = DELETE")
    }

    @discardableResult
    package func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
        try run(text: query.rendered(for: dialect), values)
    }

    @discardableResult
    package func run(text: String, _ values: [StorageValue] = []) throws(ServerError) -> [StorageRow] {
        try StorageValue.requireStorable(values)
        guard !isBroken, send(text, values) else { throw broken() }
        return try rows()
    }

    /// The engine's spelling of the names in queries. Only transactions that write lock rows.
    private var dialect: Query.Dialect {
        let time = clock.map { "CAST(\(Int64($0.now.timeIntervalSince1970.rounded(.down))) AS bigint)" }
        let isWriting = mode == .writing
        return Query.Dialect(
            now: time ?? "CAST(floor(extract(epoch FROM clock_timestamp())) AS bigint)",
            lock: isWriting ? "FOR UPDATE" : "", skip: isWriting ? "SKIP LOCKED" : "", blob: "BYTEA")
    }

    /// Sends a statement with its values in binary form. Their types are given explicitly, never guessed from their
    /// text.
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
        // Without a byte the address may be null, which would mean a null value.
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

    /// Waits for all responses of the database to a statement.
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
        // If the connection has failed, libpq makes up a response.
        if unsafe PQstatus(connection) != CONNECTION_OK { isBroken = true }
        return results
    }

    /// Sends the rest of a statement. Responses must be read meanwhile, or the database would stop reading.
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

    /// The maximum time that data decrypted by OpenSSL may wait: polling the socket does not show it.
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
