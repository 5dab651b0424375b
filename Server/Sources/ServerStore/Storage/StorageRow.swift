package import ServerFoundation

/// A row of a result. Reading a column as another type is an error and never a conversion, because another program may
/// have written the row.
package struct StorageRow: Sendable, Hashable {
    private let values: [StorageValue]

    /// The values, in the order in which the query names them.
    package init(_ values: [StorageValue]) { self.values = values }

    /// The number of columns.
    package var count: Int { values.count }

    /// The value of a column; null if the column does not exist.
    package subscript(_ column: Int) -> StorageValue { values.indices.contains(column) ? values[column] : .null }

    /// A number.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    package func integer(_ column: Int) throws(ServerError) -> Int64 {
        guard case .integer(let value) = self[column] else { throw Self.another(column, "a number") }
        return value
    }

    /// A text.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    package func text(_ column: Int) throws(ServerError) -> String {
        guard case .text(let value) = self[column] else { throw Self.another(column, "a text") }
        return value
    }

    /// Bytes.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    package func bytes(_ column: Int) throws(ServerError) -> [UInt8] {
        guard case .bytes(let value) = self[column] else { throw Self.another(column, "bytes") }
        return value
    }

    /// Bytes, or nil for null.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    func optionalBytes(_ column: Int) throws(ServerError) -> [UInt8]? {
        self[column] == .null ? nil : try bytes(column)
    }

    /// A text, or nil for null.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    package func optionalText(_ column: Int) throws(ServerError) -> String? {
        self[column] == .null ? nil : try text(column)
    }

    /// A number, or nil for null.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    package func optionalInteger(_ column: Int) throws(ServerError) -> Int64? {
        self[column] == .null ? nil : try integer(column)
    }

    /// The value that a closure reads from bytes; the closure returns nil for invalid ones.
    package func bytes<Value>(_ column: Int, _ read: ([UInt8]) -> Value?) throws(ServerError) -> Value {
        guard let value = read(try bytes(column)) else { throw Self.another(column, "bytes of that column") }
        return value
    }

    /// The value that a closure reads from a text; the closure returns nil for an invalid one.
    package func text<Value>(_ column: Int, _ read: (String.UTF8View) -> Value?) throws(ServerError) -> Value {
        guard let value = read(try text(column).utf8) else { throw Self.another(column, "a text of that column") }
        return value
    }

    private static func another(_ column: Int, _ expected: String) -> ServerError {
        ServerError(.damagedDatabase, of: "column \(column)", expected: expected, found: "another value")
    }
}
