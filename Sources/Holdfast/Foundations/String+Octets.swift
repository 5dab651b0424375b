/// Operations on text from outside. Equality, hashing and folding of `String` normalize, which takes quadratic time on
/// a run of combining marks; work on bytes is linear.
extension String {
    /// Whether both texts have the same bytes in UTF-8; texts that are only canonically equivalent differ.
    package func hasSameOctets(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether it contains these bytes.
    package func containsOctets(of part: StaticString) -> Bool {
        var rest = utf8[...]
        let part = part.description.utf8
        while rest.count >= part.count {
            if rest.starts(with: part) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    /// The rest after these bytes; nil if the text does not begin with them.
    package func after(octets prefix: String) -> String? {
        utf8.starts(with: prefix.utf8) ? String(Substring(utf8.dropFirst(prefix.utf8.count))) : nil
    }

    /// Whether it is ASCII and short: then it may be compared, hashed, sorted and folded.
    package func isASCII(atMost limit: Int) -> Bool { utf8.count <= limit && utf8.allSatisfy { $0 < 0x80 } }
}

extension String {
    /// Decodes UTF-8; nil if it is malformed. Bytes that differ after a round trip were replaced by U+FFFD.
    ///
    /// `String(validating:as:)` does the same but needs iOS 18.
    package init?(strictUTF8 octets: some Collection<UInt8>) {
        self.init(decoding: octets, as: UTF8.self)
        guard utf8.elementsEqual(octets) else { return nil }
    }

    /// Decodes UTF-16; nil if it is malformed.
    package init?(strictUTF16 units: some Collection<UInt16>) {
        self.init(decoding: units, as: UTF16.self)
        guard utf16.elementsEqual(units) else { return nil }
    }
}
