/// Which octets a name may have. Names are checked as octets before any other code sees them as text.
enum ASCIIText {
    /// A letter or a digit.
    static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Letters, digits and the characters of `others`, as many as `count` allows.
    static func isName(_ octets: some Collection<UInt8>, _ count: ClosedRange<Int>, others: String) -> Bool {
        count.contains(octets.count) && octets.allSatisfy { isAlphanumeric($0) || others.utf8.contains($0) }
    }

    /// Printable characters, with or without spaces, as many as `count` allows.
    static func isPrintable(_ octets: some Collection<UInt8>, _ count: ClosedRange<Int>, spaces: Bool = false) -> Bool {
        count.contains(octets.count) && octets.allSatisfy { ((spaces ? 0x20 : 0x21)...0x7E).contains($0) }
    }

    /// Whether octets spell a word of lower-case ASCII letters, in any case.
    static func spells(_ octets: some Collection<UInt8>, _ word: String) -> Bool {
        octets.elementsEqual(word.utf8) { octet, letter in
            octet == letter || (octet | 0x20 == letter && isAlphanumeric(octet))
        }
    }
}
