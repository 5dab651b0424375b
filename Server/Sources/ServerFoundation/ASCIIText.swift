/// Checks of the bytes of names, made before other code uses them as text.
package enum ASCIIText {
    /// A letter or a digit.
    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether bytes are letters, digits and the characters of `others`, and their number is in `count`.
    package static func isName(_ bytes: some Collection<UInt8>, _ count: ClosedRange<Int>, others: String) -> Bool {
        count.contains(bytes.count) && bytes.allSatisfy { isAlphanumeric($0) || others.utf8.contains($0) }
    }

    /// Whether bytes are printable characters, with or without spaces, and their number is in `count`.
    package static func isPrintable(_ bytes: some Collection<UInt8>, _ count: ClosedRange<Int>, spaces: Bool = false)
        -> Bool
    {
        count.contains(bytes.count) && bytes.allSatisfy { ((spaces ? 0x20 : 0x21)...0x7E).contains($0) }
    }

    /// Whether bytes spell a word of lower-case ASCII letters, in any case.
    package static func spells(_ bytes: some Collection<UInt8>, _ word: String) -> Bool {
        bytes.elementsEqual(word.utf8) { byte, letter in
            byte == letter || (byte | 0x20 == letter && isAlphanumeric(byte))
        }
    }
}
