/// A value in a row. There are no other types, and no type is converted: every column has one.
public enum StorageValue: Sendable, Hashable {
    /// Nothing.
    case null
    /// A number.
    case integer(Int64)
    /// Text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])

    /// Refuses what an engine could not store: PostgreSQL has no texts with NUL, so no engine takes one.
    /// - Throws: ``ServerError`` `invalidValue`.
    static func requireStorable(_ values: [StorageValue]) throws(ServerError) {
        for case .text(let text) in values where text.utf8.contains(0) {
            throw ServerError(
                .invalidValue, of: "text", expected: "a text without NUL characters", found: "one with some")
        }
    }

    /// A text that may be absent.
    static func optional(_ text: String?) -> StorageValue { text.map(StorageValue.text) ?? .null }

    /// A number that may be absent.
    static func optional(_ number: Int64?) -> StorageValue { number.map(StorageValue.integer) ?? .null }

    /// Bytes that may be absent.
    static func optional(_ bytes: [UInt8]?) -> StorageValue { bytes.map(StorageValue.bytes) ?? .null }
}
