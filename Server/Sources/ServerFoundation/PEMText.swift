import Foundation

/// Texts of Base64 blocks between labeled lines (RFC 7468).
package enum PEMText {
    /// A block with lines of 64 characters (RFC 7468 2), and a line feed after the last.
    package static func block(_ label: String, of bytes: [UInt8]) -> String {
        let base64 = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    /// The blocks of a text without anything else (RFC 7468 3); nil for any other text.
    package static func blocks(_ label: String, of text: [UInt8]) -> [[UInt8]]? {
        var blocks: [[UInt8]] = []
        var base64: [UInt8]?
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if line.elementsEqual("-----BEGIN \(label)-----".utf8) {
                guard base64 == nil else { return nil }
                base64 = []
            } else if line.elementsEqual("-----END \(label)-----".utf8) {
                guard let bytes = base64.flatMap({ Base64.decode($0) }), !bytes.isEmpty else { return nil }
                blocks.append(bytes)
                base64 = nil
            } else {
                guard base64 != nil else { return nil }
                base64?.append(contentsOf: line)
            }
        }
        return base64 == nil ? blocks : nil
    }
}
