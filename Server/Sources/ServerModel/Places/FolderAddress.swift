package import Foundation
package import ServerFoundation

/// The address at which clients find the server's folder (`holdfast-folder-address-v1`). A document in the folder
/// counts as published once it was read back at this address.
package struct FolderAddress: Sendable, Hashable {
    /// The address below which clients find documents.
    package let url: URL
    /// The address below which clients send challenges; nil if it is not configured.
    package let answers: URL?
    /// The canonical bytes.
    package let bytes: [UInt8]

    private static let format = "holdfast-folder-address-v1"
    private static let maximumSize = 4 << 10

    /// Makes an address.
    /// - Parameters:
    ///   - text: the address below which clients find documents.
    ///   - answers: the address below which clients send challenges; nil for none.
    /// - Throws: ``ServerError`` `invalidValue` for a text that is not an address.
    package init(_ text: String, answers: String? = nil) throws(ServerError) {
        url = try Place.address(text)
        self.answers = try answers.map { text throws(ServerError) in try Place.address(text) }
        var members: [String: CanonicalJSON] = ["format": .text(Self.format), "url": .text(text)]
        if let answers { members["answers"] = .text(answers) }
        bytes = CanonicalJSON.object(members).bytes
    }

    /// Reads the stored bytes.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "folder", limit: Self.maximumSize), "folder")
        try fields.text("format", Self.format) { $0.elementsEqual(Self.format.utf8) ? () : nil }
        let text = try fields.text("url", "an address", Self.text)
        let answers = try fields.optionalText("answers").map { bytes throws(ServerError) in
            guard let text = Self.text(bytes) else { throw fields.invalid("answers", "an address") }
            return text
        }
        try fields.finish()
        try self.init(text, answers: answers)
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "folder", expected: "the one spelling", found: "another")
        }
    }
    private static func text(_ bytes: [UInt8]) -> String? {
        ASCIIText.isPrintable(bytes, 1...1_024) ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
