extension JSONTree {
    /// Makes a text.
    package init(text: String) { self = .text(Array(text.utf8)[...]) }

    /// Makes an object. If two members have the same key, the later one is used.
    package init(members: [(key: [UInt8], value: JSONTree)]) {
        var values: [[UInt8]: JSONTree] = [:]
        for member in members { values[member.key] = member.value }
        let sorted = values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        self = .object(sorted.enumerated().map { Member(key: $1.key[...], position: $0, value: $1.value) })
    }

    /// Makes an object with literal keys.
    package init(fields: KeyValuePairs<StaticString, JSONTree>) {
        self.init(members: fields.map { (Array($0.key.description.utf8), $0.value) })
    }

    /// A copy of the object with new values for some members, or with new members; the others are unchanged.
    package func setting(_ fields: KeyValuePairs<StaticString, JSONTree>) -> JSONTree {
        JSONTree(members: members + fields.map { (Array($0.key.description.utf8), $0.value) })
    }

    /// The members of an object, sorted by their keys; empty for anything other than an object.
    package var members: [(key: [UInt8], value: JSONTree)] {
        guard case .object(let members) = self else { return [] }
        return members.map { (Array($0.key), $0.value) }
    }
}

extension JSONTree {
    /// Canonical JSON (OLPC), over which signatures are made: members are sorted by their keys, there is no white space,
    /// and texts escape only the quotation mark and the backslash.
    package var canonical: [UInt8] { written(escapingControls: false) }

    /// JSON for transport (RFC 8259): canonical JSON with its control characters escaped, because JSON readers reject
    /// unescaped ones.
    package var json: [UInt8] { written(escapingControls: true) }

    private func written(escapingControls: Bool) -> [UInt8] {
        var writer = JSONTreeWriter(escapesControls: escapingControls)
        writer.write(self)
        return writer.octets
    }
}

private struct JSONTreeWriter {
    let escapesControls: Bool
    private(set) var octets: [UInt8] = []

    init(escapesControls: Bool) { self.escapesControls = escapesControls }

    mutating func write(_ value: JSONTree) {
        switch value {
        case .null: octets += "null".utf8
        case .boolean(let value): octets += (value ? "true" : "false").utf8
        case .integer(let value): octets += "\(value)".utf8
        case .text(let text): write(text)
        case .array(let elements): write(elements, between: "[", "]") { $0.write($1) }
        case .object(let members):
            write(members, between: "{", "}") { writer, member in
                writer.write(member.key)
                writer.octets.append(UInt8(ascii: ":"))
                writer.write(member.value)
            }
        }
    }

    private mutating func write<Element>(
        _ elements: [Element], between open: Unicode.Scalar, _ close: Unicode.Scalar,
        each: (inout Self, Element) -> Void
    ) {
        octets.append(UInt8(ascii: open))
        for (index, element) in elements.enumerated() {
            if index > 0 { octets.append(UInt8(ascii: ",")) }
            each(&self, element)
        }
        octets.append(UInt8(ascii: close))
    }

    private mutating func write(_ text: ArraySlice<UInt8>) {
        octets.append(UInt8(ascii: "\""))
        for octet in text {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): octets += [UInt8(ascii: "\\"), octet]
            case UInt8(ascii: "\n") where escapesControls: octets += "\\n".utf8
            case 0..<0x20 where escapesControls: octets += "\\u00\(HexText.text(of: CollectionOfOne(octet)))".utf8
            default: octets.append(octet)
            }
        }
        octets.append(UInt8(ascii: "\""))
    }
}
