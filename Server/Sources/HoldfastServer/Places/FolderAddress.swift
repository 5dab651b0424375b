public import Foundation

/// Where clients find the server's folder (`holdfast-folder-address-v1`): what is written there counts as published once it
/// was read back at this address.
public struct FolderAddress: Sendable, Hashable {
    /// The address below which clients find documents.
    public let url: URL
    /// The address below which clients ask challenges; nil if nobody has said.
    public let answers: URL?
    /// The canonical bytes.
    public let bytes: [UInt8]

    private static let format = "holdfast-folder-address-v1"
    private static let maximumSize = 4 << 10

    /// Names an address.
    /// - Parameters:
    ///   - text: the address below which clients find documents.
    ///   - answers: the address below which they ask challenges; nil if nobody says.
    /// - Throws: ``ServerError`` `invalidValue` for a text that is no address.
    public init(_ text: String, answers: String? = nil) throws(ServerError) {
        url = try Place.address(text)
        self.answers = try answers.map { text throws(ServerError) in try Place.address(text) }
        var members: [String: CanonicalJSON] = ["format": .text(Self.format), "url": .text(text)]
        if let answers { members["answers"] = .text(answers) }
        bytes = CanonicalJSON.object(members).bytes
    }

    /// Reads what is stored.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ bytes: [UInt8]) throws(ServerError) {
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
