/// A text for people, in one language.
public struct LocalizedText: Sendable, Hashable {
    /// What rules of versions refer to.
    public let key: String
    /// The language, such as `en` or `pt-BR`, as in Accept-Language.
    public let language: String
    /// The text.
    public let text: String

    /// As long as any message that a phone shows.
    static let greatestText = 4_096

    /// Makes a text.
    /// - Throws: ``ServerError`` `invalidValue` for a key that is not 1 to 255 printable ASCII characters, a language that
    ///   is not a tag of at most 35 letters, digits and hyphens, and a text of more than 4,096 octets.
    public init(key: String, language: String, text: String) throws(ServerError) {
        guard Self.isKey(key.utf8), Self.isLanguage(language.utf8), (1...Self.greatestText).contains(text.utf8.count)
        else {
            throw ServerError(
                .invalidValue, of: "texts",
                expected: "a key of 1 to 255 printable ASCII characters, a language such as en, and a text of "
                    + "1 to \(Self.greatestText) octets", found: "another value")
        }
        self.key = key
        self.language = language
        self.text = text
    }

    static func isKey(_ octets: some Collection<UInt8>) -> Bool {
        ASCIIText.isPrintable(octets, 1...255)
    }

    /// RFC 5646 2.1 allows 35 octets in the tags that are in use.
    static func isLanguage(_ octets: some Collection<UInt8>) -> Bool {
        ASCIIText.isName(octets, 1...35, others: "-")
    }

    var sortingKey: [UInt8] { Array(key.utf8) + [0] + Array(language.utf8) }

    var json: CanonicalJSON {
        .object(["key": .text(key), "language": .text(language), "text": .text(text)])
    }

    init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
        var fields = try JSONFields(value, path)
        let key = try fields.text("key", "1 to 255 printable ASCII characters") { Self.isKey($0) ? $0 : nil }
        let language = try fields.text("language", "a tag such as en") { Self.isLanguage($0) ? $0 : nil }
        let text = try fields.text("text", "1 to \(Self.greatestText) octets") {
            (1...Self.greatestText).contains($0.count) ? $0 : nil
        }
        try fields.finish()
        try self.init(
            key: String(decoding: key, as: UTF8.self), language: String(decoding: language, as: UTF8.self),
            text: String(decoding: text, as: UTF8.self))
    }
}
