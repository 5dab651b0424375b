import Foundation

/// Base64 in its canonical spelling (RFC 4648 4), and for challenges also without padding.
package enum Base64 {
    /// The canonical spelling of bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// The bytes; nil if the text is not exactly what ``encode(_:)`` writes.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let text = Array(text)
        // Compare arrays, whose bytes are contiguous: other collections are compared one by one.
        guard let bytes = Data(base64Encoded: Data(text)), Array(bytes.base64EncodedData()) == text else {
            return nil
        }
        return Array(bytes)
    }

    /// Like ``decode(_:)``, but the padding may be missing, as the reference server accepts it.
    package static func decodeUnpadded(_ text: [UInt8]) -> [UInt8]? {
        // Incomplete padding is invalid.
        guard text.last != UInt8(ascii: "=") else { return decode(text) }
        let missing = (4 - text.count % 4) % 4
        guard missing < 3 else { return nil }
        return decode(text + [UInt8](repeating: UInt8(ascii: "="), count: missing))
    }
}
