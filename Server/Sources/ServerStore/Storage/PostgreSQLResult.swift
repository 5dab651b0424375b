import CLibPQ
import Holdfast
import ServerFoundation

/// A response of PostgreSQL to one statement.
@safe final class PostgreSQLResult {
    private let result: OpaquePointer

    // The types of this program's values (pg_type.dat).
    static let bytes: Oid = 17
    static let integer: Oid = 20
    static let text: Oid = 25

    /// Takes ownership of a response.
    init(_ result: OpaquePointer) { unsafe self.result = result }

    deinit { unsafe PQclear(result) }

    /// The error in the response; nil if it has none.
    var error: ServerError? {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return nil
        default:
            guard let state = field("C") else { return PostgreSQLFailure.unreachable("a connection that broke") }
            return PostgreSQLFailure.error(state: state, about: field("n") ?? field("t"))
        }
    }

    /// Whether the connection ends with it: the database closed it, or did not respond.
    var saysEnd: Bool {
        guard error != nil else { return false }
        guard let severity = field("V"), let state = field("C") else { return true }
        return !severity.utf8.elementsEqual("ERROR".utf8) || state.utf8.starts(with: "08".utf8)
    }

    /// The command that was executed, such as `COMMIT`.
    var command: [UInt8] {
        guard let text = unsafe PQcmdStatus(result) else { return [] }
        return unsafe Array(String(cString: text).utf8)
    }

    /// The rows.
    /// - Throws: ``ServerError`` `damagedDatabase` for a column of a type that no table has.
    func rows() throws(ServerError) -> [StorageRow] {
        let columns = unsafe PQnfields(result)
        var rows: [StorageRow] = []
        for row in 0..<(unsafe PQntuples(result)) {
            var values: [StorageValue] = []
            for column in 0..<columns { values.append(try value(row, column)) }
            rows.append(StorageRow(values))
        }
        return rows
    }

    private func value(_ row: Int32, _ column: Int32) throws(ServerError) -> StorageValue {
        guard unsafe PQgetisnull(result, row, column) == 0 else { return .null }
        let bytes = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
        let isBinary = unsafe PQfformat(result, column) == 1
        switch unsafe (PQftype(result, column), isBinary) {
        case (Self.bytes, true): return .bytes(unsafe Array(bytes))
        // Integers of 64, 16 and 32 bits.
        case (Self.integer, true), (21, true), (23, true):
            let isNegative = unsafe (bytes.first ?? 0) & 0x80 != 0
            return .integer(unsafe bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
        // Texts, names of the system catalog, and all results of statements without parameters.
        case (Self.text, true), (19, true), (_, false): return .text(unsafe String(decoding: bytes, as: UTF8.self))
        default:
            throw ServerError(
                .damagedDatabase, of: "column \(column)", expected: "a number, a text or bytes", found: "another type")
        }
    }

    /// A field of an error: a code, or a name of this program's tables.
    private func field(_ name: UnicodeScalar) -> String? {
        guard let text = unsafe PQresultErrorField(result, Int32(name.value)) else { return nil }
        let bytes = unsafe Array(String(cString: text).utf8)
        return ASCIIText.isName(bytes, 1...63, others: "_") ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
