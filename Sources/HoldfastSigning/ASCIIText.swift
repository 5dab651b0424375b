/// Texts of others as octets: what Unicode takes for equal may take time that grows with the square to find out, and is
/// not equal to clients.
package enum ASCIIText {
    /// The octets, with the letters of ASCII in lower case.
    package static func lowercased(_ text: some StringProtocol) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// The text of ``lowercased(_:)``, whatever else it holds.
    package static func folded(_ text: some StringProtocol) -> String {
        String(decoding: lowercased(text), as: UTF8.self)
    }
}
