/// Handles untrusted texts as bytes. Comparing by Unicode equivalence may take quadratic time, and clients do not treat
/// such texts as equal.
package enum ASCIIText {
    /// The bytes of a text, with ASCII letters in lower case.
    package static func lowercased(_ text: some StringProtocol) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// A text with its ASCII letters in lower case; everything else is unchanged.
    package static func folded(_ text: some StringProtocol) -> String {
        String(decoding: lowercased(text), as: UTF8.self)
    }
}
