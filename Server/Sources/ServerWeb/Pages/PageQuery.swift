import ServerFoundation
import ServerHTTP

/// The fields of a page's query, each once.
struct PageQuery: Sendable {
    private var fields: [String: [UInt8]] = [:]

    /// - Throws: ``ServerError`` `invalidValue` for an unknown or a repeated field.
    init(_ target: RequestTarget, _ route: PageRoute) throws(ServerError) {
        for field in target.fields {
            guard let name = route.queryFields.first(where: { $0.utf8.elementsEqual(field.name) }),
                fields.updateValue(field.value, forKey: name) == nil
            else { throw Self.invalid("query") }
        }
    }

    private static func invalid(_ field: String) -> ServerError {
        ServerError(.invalidValue, of: field, expected: "what a link or form of a page says", found: "something else")
    }

    /// The bytes of a field; nil if it is absent or empty, as forms send empty fields.
    func bytes(_ name: String) -> [UInt8]? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A field, parsed by a closure; nil if it is absent.
    /// - Throws: ``ServerError`` `invalidValue` if the closure returns nil.
    func value<Value>(_ name: String, _ read: ([UInt8]) -> Value?) throws(ServerError) -> Value? {
        guard let bytes = bytes(name) else { return nil }
        guard let value = read(bytes) else { throw Self.invalid(name) }
        return value
    }

    /// A number; nil if it is absent.
    /// - Throws: ``ServerError`` `invalidValue`.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(ServerError) -> Int64? {
        try value(name) { bytes in LineReader.number(bytes[...]).flatMap { range.contains($0) ? $0 : nil } }
    }
}
