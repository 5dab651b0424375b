extension JSONTree {
    /// Makes a text.
    package init(text: String) { self = .text(Array(text.utf8)[...]) }

    /// Makes an object. If two members have the same key, the later one counts.
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

    /// A copy of the object with new values for some members, or with new members; the others stay as they are.
    package func setting(_ fields: KeyValuePairs<StaticString, JSONTree>) -> JSONTree {
        JSONTree(members: members + fields.map { (Array($0.key.description.utf8), $0.value) })
    }

    /// The members of an object, sorted by their keys; empty for anything other than an object.
    package var members: [(key: [UInt8], value: JSONTree)] {
        guard case .object(let members) = self else { return [] }
        return members.map { (Array($0.key), $0.value) }
    }

    /// JSON as it is served (RFC 8259), in one line, with the members sorted by their keys.
    ///
    /// Signatures are made over canonical JSON instead. That leaves control characters in texts unescaped, which no
    /// reader of JSON accepts.
    package var json: [UInt8] {
        var octets: [UInt8] = []
        write(json: &octets)
        return octets
    }

    private func write(json octets: inout [UInt8]) {
        switch self {
        case .null, .boolean, .integer: octets += canonical
        case .text(let text): Self.write(text, json: &octets)
        case .array(let elements):
            octets.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { octets.append(UInt8(ascii: ",")) }
                element.write(json: &octets)
            }
            octets.append(UInt8(ascii: "]"))
        case .object(let members):
            octets.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { octets.append(UInt8(ascii: ",")) }
                Self.write(member.key, json: &octets)
                octets.append(UInt8(ascii: ":"))
                member.value.write(json: &octets)
            }
            octets.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: ArraySlice<UInt8>, json octets: inout [UInt8]) {
        octets.append(UInt8(ascii: "\""))
        for octet in text {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): octets += [UInt8(ascii: "\\"), octet]
            case UInt8(ascii: "\n"): octets += "\\n".utf8
            case 0..<0x20: octets += "\\u00\(HexText.text(of: CollectionOfOne(octet)))".utf8
            default: octets.append(octet)
            }
        }
        octets.append(UInt8(ascii: "\""))
    }
}
