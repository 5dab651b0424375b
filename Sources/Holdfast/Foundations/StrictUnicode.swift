extension String {
    /// Decodes UTF-8; nil when it is malformed. Octets that differ after a round trip were replaced by U+FFFD.
    ///
    /// `String(validating:as:)` says the same and needs iOS 18.
    package init?(strictUTF8 octets: some Collection<UInt8>) {
        self.init(decoding: octets, as: UTF8.self)
        guard utf8.elementsEqual(octets) else { return nil }
    }

    /// Decodes UTF-16; nil when it is malformed.
    package init?(strictUTF16 units: some Collection<UInt16>) {
        self.init(decoding: units, as: UTF16.self)
        guard utf16.elementsEqual(units) else { return nil }
    }
}
