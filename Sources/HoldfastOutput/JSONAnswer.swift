/// A JSON object that a command prints: its fields, and the version of their meaning.
struct JSONAnswer<Value: Encodable>: Encodable {
    private enum Key: CodingKey {
        case schema
    }

    /// From this version on, fields are added, and none is changed or taken away.
    private static var schema: Int { 1 }

    private let value: Value

    init(_ value: Value) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.schema, forKey: .schema)
    }
}
