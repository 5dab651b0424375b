/// Base64 for URLs, without padding, in its canonical spelling (RFC 4648 5).
package enum Base64URL {
    /// The canonical spelling of bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let text = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; nil if the text is not exactly what ``encode(_:)`` writes.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.allSatisfy({ ASCIIText.isAlphanumeric($0) || "-_".utf8.contains($0) }) else { return nil }
        return Base64.decodeUnpadded(
            text.map { character in
                switch character {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: character
                }
            })
    }
}
