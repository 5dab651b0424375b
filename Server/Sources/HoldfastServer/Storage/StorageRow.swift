/// A row of a result. Reading a column as another type than it has is an error, never a conversion: a row may have been
/// written by somebody else.
public struct StorageRow: Sendable, Hashable {
    private let values: [StorageValue]

    /// The values, in the order in which the query names them.
    public init(_ values: [StorageValue]) { self.values = values }

    /// How many columns there are.
    public var count: Int { values.count }

    /// The value of a column; null if there is none.
    public subscript(_ column: Int) -> StorageValue { values.indices.contains(column) ? values[column] : .null }

    /// A number.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    public func integer(_ column: Int) throws(ServerError) -> Int64 {
        guard case .integer(let value) = self[column] else { throw Self.another(column, "a number") }
        return value
    }

    /// A text.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    public func text(_ column: Int) throws(ServerError) -> String {
        guard case .text(let value) = self[column] else { throw Self.another(column, "a text") }
        return value
    }

    /// Bytes.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    public func bytes(_ column: Int) throws(ServerError) -> [UInt8] {
        guard case .bytes(let value) = self[column] else { throw Self.another(column, "bytes") }
        return value
    }

    /// Bytes, or nil for null.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    public func optionalBytes(_ column: Int) throws(ServerError) -> [UInt8]? {
        self[column] == .null ? nil : try bytes(column)
    }

    /// A text, or nil for null.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    public func optionalText(_ column: Int) throws(ServerError) -> String? {
        self[column] == .null ? nil : try text(column)
    }

    /// A number, or nil for null.
    /// - Throws: ``ServerError`` `damagedDatabase`.
    public func optionalInteger(_ column: Int) throws(ServerError) -> Int64? {
        self[column] == .null ? nil : try integer(column)
    }

    /// What a closure makes of bytes; it returns nil for what the column must not have.
    func bytes<Value>(_ column: Int, _ read: ([UInt8]) -> Value?) throws(ServerError) -> Value {
        guard let value = read(try bytes(column)) else { throw Self.another(column, "bytes of that column") }
        return value
    }

    /// What a closure makes of a text; it returns nil for what the column must not have.
    func text<Value>(_ column: Int, _ read: (String.UTF8View) -> Value?) throws(ServerError) -> Value {
        guard let value = read(try text(column).utf8) else { throw Self.another(column, "a text of that column") }
        return value
    }

    private static func another(_ column: Int, _ expected: String) -> ServerError {
        ServerError(.damagedDatabase, of: "column \(column)", expected: expected, found: "another value")
    }
}
