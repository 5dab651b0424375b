import ServerFoundation

/// A value in a row. Every column has one of these types, and values are never converted.
package enum StorageValue: Sendable, Hashable {
    /// A null.
    case null
    /// A number.
    case integer(Int64)
    /// Text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])

    /// Throws for values that an engine cannot store: PostgreSQL does not support NUL in texts, so no engine accepts
    /// it.
    /// - Throws: ``ServerError`` `invalidValue`.
    static func requireStorable(_ values: [StorageValue]) throws(ServerError) {
        for case .text(let text) in values where text.utf8.contains(0) {
            throw ServerError(
                .invalidValue, of: "text", expected: "a text without NUL characters", found: "one with some")
        }
    }

    /// A text that may be absent.
    package static func optional(_ text: String?) -> StorageValue { text.map(StorageValue.text) ?? .null }

    /// A number that may be absent.
    package static func optional(_ number: Int64?) -> StorageValue { number.map(StorageValue.integer) ?? .null }

    /// Bytes that may be absent.
    package static func optional(_ bytes: [UInt8]?) -> StorageValue { bytes.map(StorageValue.bytes) ?? .null }
}
