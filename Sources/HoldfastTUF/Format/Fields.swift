import Holdfast

/// Reads the fields of section 4 from an object. Unknown fields are ignored.
struct Fields {
    private let tree: JSONTree
    /// The path of the object, for errors.
    private let place: String

    /// - Throws: ``TUFError`` `malformed` if the object is missing.
    init(_ tree: JSONTree?, _ place: String) throws(TUFError) {
        guard let tree else { throw TUFError(.malformed, expected: "the field \(place)", found: "none") }
        guard case .object = tree else {
            throw TUFError(.malformed, expected: "an object as \(place)", found: tree.kind)
        }
        self.tree = tree
        self.place = place
    }

    /// The members in the order in which they were served.
    var members: [JSONTree.Member] {
        guard case .object(let members) = tree else { return [] }
        return members.sorted { $0.position < $1.position }
    }

    func has(_ key: StaticString) -> Bool { tree[key] != nil }

    func object(_ key: StaticString) throws(TUFError) -> Fields { try Fields(tree[key], "\(place).\(key)") }

    func text(_ key: StaticString) throws(TUFError) -> ArraySlice<UInt8> {
        guard case .text(let octets)? = tree[key] else { throw wrong(key, "a text") }
        return octets
    }

    func boolean(_ key: StaticString) throws(TUFError) -> Bool {
        guard case .boolean(let value)? = tree[key] else { throw wrong(key, "true or false") }
        return value
    }

    func integer(_ key: StaticString, atLeast least: Int64) throws(TUFError) -> Int64 {
        guard case .integer(let value)? = tree[key], value >= least else {
            throw wrong(key, "an integer of at least \(least)")
        }
        return value
    }

    func array(_ key: StaticString) throws(TUFError) -> [JSONTree] {
        guard case .array(let elements)? = tree[key] else { throw wrong(key, "an array") }
        return elements
    }

    /// An array of distinct texts.
    func distinctTexts(_ key: StaticString, atMost limit: Int = .max) throws(TUFError) -> [[UInt8]] {
        let texts = try texts(key)
        guard texts.count <= limit else { throw wrong(key, "at most \(limit) texts", "\(texts.count)") }
        guard Set(texts).count == texts.count else { throw wrong(key, "each text once", "one twice") }
        return texts
    }

    func texts(_ key: StaticString) throws(TUFError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for element in try array(key) {
            guard case .text(let octets) = element else { throw wrong(key, "an array of texts", element.kind) }
            texts.append(Array(octets))
        }
        return texts
    }

    func wrong(_ key: StaticString, _ expected: String, _ found: String? = nil) -> TUFError {
        TUFError(.malformed, expected: "\(expected) as \(place).\(key)", found: found ?? describe(tree[key]))
    }

    private func describe(_ value: JSONTree?) -> String {
        switch value {
        case nil: "none"
        case .integer(let value)?: "\(value)"
        case .text(let octets)?: String(decoding: octets.prefix(200), as: UTF8.self).quoted
        case let value?: value.kind
        }
    }
}
