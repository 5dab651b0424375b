/// A JSON object that a command prints: its fields, and the version of their meaning.
struct JSONAnswer<Value: Encodable>: Encodable {
    private enum Key: CodingKey {
        case schema
    }

    /// The first version. Later changes add fields, but change or remove none.
    private static var schema: Int { 1 }

    private let value: Value

    init(_ value: Value) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.schema, forKey: .schema)
    }
}
