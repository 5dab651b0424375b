import CSQLite
package import Foundation
package import Holdfast
package import ServerFoundation

/// One connection to a SQLite database. ``SQLiteEngine`` ensures that only one thread uses it at a time.
@safe package final class SQLiteConnection: StorageSession {
    private let connection: OpaquePointer
    private let dialect: Query.Dialect
    /// The prepared statements, by the text of their query.
    private var statements: [String: OpaquePointer] = unsafe [:]

    /// Maximum number of prepared statements; beyond it, all are prepared again.
    private static let maximumStatements = 512

    /// The time to wait for another program's lock, in milliseconds.
    private static let patience: Int32 = 5_000

    static let dialect = Query.Dialect(now: "holdfast_now()", lock: "", skip: "", blob: "BLOB")

    /// The access to a file.
    package enum Access: Sendable {
        /// Read and write; the file is created if it does not exist.
        case writing
        /// Read only. A file without a log is opened as immutable, because SQLite would want to create one.
        case reading
    }

    /// Opens a file.
    /// - Parameters:
    ///   - path: the file.
    ///   - access: the access.
    ///   - clock: the clock behind `{now}`: the machine's clock is the database's.
    ///   - patience: the time to wait for another program's lock, in milliseconds.
    package init(
        _ path: String, access: Access = .writing, clock: any WallClock, patience: Int32 = patience
    ) throws(ServerError) {
        var opened: OpaquePointer?
        let (name, flags) = Self.opening(path, access)
        let code = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let error = unsafe Self.error(code, opened)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe connection = opened
        dialect = Self.dialect
        unsafe sqlite3_extended_result_codes(connection, 1)
        unsafe sqlite3_busy_timeout(connection, patience)
        // Rows must not become code: no extensions, and no functions of this program in a schema.
        unsafe sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        let box = unsafe Unmanaged.passRetained(SQLiteClock(clock)).toOpaque()
        let registered = unsafe sqlite3_create_function_v2(
            connection, "holdfast_now", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, box,
            { context, _, _ in
                guard let data = unsafe sqlite3_user_data(context) else { return }
                let clock = unsafe Unmanaged<SQLiteClock>.fromOpaque(data).takeUnretainedValue()
                unsafe sqlite3_result_int64(context, clock.seconds)
            }, nil, nil,
            { data in if let data = unsafe data { unsafe Unmanaged<SQLiteClock>.fromOpaque(data).release() } })
        guard registered == SQLITE_OK else { throw unsafe Self.error(registered, connection) }
    }

    deinit {
        unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
        unsafe sqlite3_close_v2(connection)
    }

    private static func opening(_ path: String, _ access: Access) -> (name: String, flags: Int32) {
        guard case .reading = access else { return (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) }
        var log = stat()
        guard unsafe lstat(path + "-wal", &log) != 0 || log.st_size == 0,
            let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
        else { return (path, SQLITE_OPEN_READONLY) }
        return ("file:\(escaped)?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    /// Applies the settings of a database that is only read.
    package func prepareReading() throws(ServerError) {
        for setting in ["PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON"] { try execute(setting) }
    }

    /// Applies the settings of every database of this program.
    package func prepare() throws(ServerError) {
        for setting in [
            "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON",
            "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON",
        ] {
            try execute(setting)
        }
    }

    /// Runs statements of this program that return nothing, such as those of a migration.
    package func execute(_ text: String) throws(ServerError) {
        let code = unsafe sqlite3_exec(connection, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.error(code, connection) }
    }

    /// Creates an empty file, which must not exist yet.
    package static func create(_ file: URL) throws(ServerError) {
        let descriptor = unsafe open(file.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600 as mode_t)
        guard descriptor >= 0 else {
            throw ServerError(.file, of: file.path, expected: "a new file", found: SystemText.of(errno))
        }
        close(descriptor)
    }

    /// Copies page by page (`sqlite3_backup`), in the transaction that this connection is in.
    package func copy(to file: URL) throws(ServerError) {
        try Self.create(file)
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(file.path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        defer { unsafe sqlite3_close_v2(opened) }
        guard code == SQLITE_OK, let target = unsafe opened,
            let backup = unsafe sqlite3_backup_init(target, "main", connection, "main")
        else { throw unsafe Self.error(code, opened) }
        let step = unsafe sqlite3_backup_step(backup, -1)
        let finish = unsafe sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, finish == SQLITE_OK else { throw unsafe Self.error(step, target) }
        // Leaves everything in one file.
        let single = unsafe sqlite3_exec(target, "PRAGMA journal_mode = DELETE", nil, nil, nil)
        guard single == SQLITE_OK else { throw unsafe Self.error(single, target) }
    }

    @discardableResult
    package func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
        let statement: OpaquePointer
        if let known = unsafe statements[query.text] {
            unsafe statement = known
        } else {
            unsafe statement = try prepare(query.rendered(for: dialect), flags: SQLITE_PREPARE_PERSISTENT)
            if unsafe statements.count >= Self.maximumStatements {
                unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
                unsafe statements = [:]
            }
            unsafe statements[query.text] = unsafe statement
        }
        // A statement that is not reset keeps its transaction open, and its bytes in memory.
        defer {
            unsafe sqlite3_reset(statement)
            unsafe sqlite3_clear_bindings(statement)
        }
        return try unsafe rows(of: statement, values)
    }

    @discardableResult
    package func run(text: String, _ values: [StorageValue] = []) throws(ServerError) -> [StorageRow] {
        let statement = unsafe try prepare(text, flags: 0)
        defer { unsafe sqlite3_finalize(statement) }
        return try unsafe rows(of: statement, values)
    }

    private func prepare(_ text: String, flags: Int32) throws(ServerError) -> OpaquePointer {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(connection, text, -1, UInt32(flags), &prepared, nil)
        guard code == SQLITE_OK, let statement = unsafe prepared else { throw unsafe Self.error(code, connection) }
        return unsafe statement
    }

    private func rows(
        of statement: OpaquePointer, _ values: [StorageValue]
    ) throws(ServerError) -> [StorageRow] {
        guard unsafe Int(sqlite3_bind_parameter_count(statement)) == values.count else {
            throw ServerError(
                .database, expected: "as many values as parameters", found: "\(values.count)",
                remedy: "Report this fault of the program.")
        }
        try StorageValue.requireStorable(values)
        for (index, value) in values.enumerated() { try unsafe bind(value, "$\(index + 1)", statement) }
        var rows: [StorageRow] = []
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW:
                let columns = unsafe (0..<sqlite3_column_count(statement)).map { unsafe Self.value($0, statement) }
                rows.append(StorageRow(columns))
            case SQLITE_DONE: return rows
            case let code: throw unsafe Self.error(code, connection)
            }
        }
    }

    private func bind(
        _ value: StorageValue, _ parameter: String, _ statement: OpaquePointer
    ) throws(ServerError) {
        let index = unsafe sqlite3_bind_parameter_index(statement, parameter)
        // SQLITE_TRANSIENT: SQLite copies the bytes before this returns.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(statement, index)
            case .integer(let number): unsafe sqlite3_bind_int64(statement, index, number)
            case .text(let text):
                unsafe sqlite3_bind_text64(
                    statement, index, text, UInt64(text.utf8.count), copied, UInt8(SQLITE_UTF8))
            case .bytes(let bytes):
                // An empty array may have no address, which would bind NULL.
                bytes.isEmpty
                    ? unsafe sqlite3_bind_zeroblob(statement, index, 0)
                    : unsafe sqlite3_bind_blob64(statement, index, bytes, UInt64(bytes.count), copied)
            }
        guard code == SQLITE_OK else { throw unsafe Self.error(code, connection) }
    }

    private static func value(_ column: Int32, _ statement: OpaquePointer) -> StorageValue {
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, column))
        case SQLITE_TEXT:
            let bytes = unsafe sqlite3_column_text(statement, column)
            let count = unsafe Int(sqlite3_column_bytes(statement, column))
            return .text(
                unsafe String(
                    decoding: UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count), as: UTF8.self))
        case SQLITE_BLOB:
            let bytes = unsafe sqlite3_column_blob(statement, column)
            let count = unsafe Int(sqlite3_column_bytes(statement, column))
            return .bytes(
                unsafe Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)))
        // A STRICT table has no other types that this program writes.
        default: return .null
        }
    }

    /// Translates a result code of SQLite for the operator.
    private static func error(_ code: Int32, _ connection: OpaquePointer?) -> ServerError {
        let text = unsafe connection.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "result \(code)"
        return switch code & 0xFF {
        case SQLITE_FULL: ServerError(.fullDatabase, expected: "space for what is written", found: text)
        case SQLITE_READONLY: ServerError(.readOnlyDatabase, expected: "a database that can be written", found: text)
        case SQLITE_BUSY, SQLITE_LOCKED:
            ServerError(.lockedDatabase, expected: "a database that no other program has locked", found: text)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            ServerError(.damagedDatabase, expected: "a database of holdfast-server", found: text)
        case SQLITE_CONSTRAINT:
            ServerError(.constraint, expected: "a row that the rules of the database allow", found: text)
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            ServerError(.file, of: "database", expected: "a file that can be opened", found: text)
        default: ServerError(.database, expected: "a statement that succeeds", found: "\(text) (\(code))")
        }
    }
}

/// The clock behind `{now}`.
private final class SQLiteClock: Sendable {
    private let clock: any WallClock

    init(_ clock: any WallClock) { self.clock = clock }

    var seconds: Int64 { Int64(exactly: clock.now.timeIntervalSince1970.rounded(.down)) ?? 0 }
}
