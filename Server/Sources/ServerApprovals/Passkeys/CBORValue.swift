/// A CBOR value (RFC 8949) of the kinds that WebAuthn uses: no tags, no fractions, no indefinite lengths.
package enum CBORValue: Sendable, Hashable {
    /// A key of a map, with its value.
    package struct Member: Sendable, Hashable {
        /// An integer or a text.
        let key: CBORValue
        let value: CBORValue
    }

    /// An integer from 0 on.
    case unsigned(UInt64)
    /// The integer that is -1 minus this.
    case negative(UInt64)
    /// Bytes.
    case bytes([UInt8])
    /// Text, as valid UTF-8.
    case text([UInt8])
    /// An array.
    case array([CBORValue])
    /// A map, sorted, each key once.
    case map([Member])
    /// `true` or `false`.
    case boolean(Bool)
    /// A null.
    case null

    /// An integer.
    static func integer(_ value: Int64) -> CBORValue {
        value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    /// A text.
    static func text(_ text: String) -> CBORValue { .text(Array(text.utf8)) }

    /// The values of keys, if this is a map with exactly these keys; nil otherwise. Ignoring an unknown member would
    /// mislead senders who rely on it.
    func values(of keys: [CBORValue]) -> [CBORValue]? {
        guard case .map(let members) = self, members.count == keys.count else { return nil }
        let values = keys.compactMap { key in members.first { $0.key == key }?.value }
        return values.count == keys.count ? values : nil
    }
}
