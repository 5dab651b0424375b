import Foundation

/// Base64 in its one canonical spelling (RFC 4648 3.5).
enum Base64Text {
    static func decode(_ text: String) -> [UInt8]? {
        // Decoders differ in what they forgive; the encoder does not, so what it gives back is the one spelling.
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        return Array(data)
    }

    static func encode(_ octets: [UInt8]) -> String { Data(octets).base64EncodedString() }
}
