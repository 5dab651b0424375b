/// Reads the members of an object one by one, and rejects unknown ones: ignoring a field would mislead people who rely
/// on it.
package struct JSONFields {
    private var members: [String: CanonicalJSON]
    private let path: String

    /// - Parameters:
    ///   - value: an object.
    ///   - path: the path of the object, for errors.
    /// - Throws: ``ServerError`` `malformed`.
    package init(_ value: CanonicalJSON, _ path: String) throws(ServerError) {
        guard case .object(let members) = value else {
            throw ServerError(.malformed, of: path, expected: "an object", found: "another value")
        }
        self.members = members
        self.path = path
    }

    /// The path of a field, for errors.
    package func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// An error about a field.
    package func invalid(_ key: String, _ expected: String) -> ServerError {
        ServerError(.invalidValue, of: place(key), expected: expected, found: "another value")
    }

    /// A member that may be absent.
    package mutating func optional(_ key: String) -> CanonicalJSON? { members.removeValue(forKey: key) }

    /// A member that must be there.
    package mutating func required(_ key: String) throws(ServerError) -> CanonicalJSON {
        guard let value = optional(key) else {
            throw ServerError(
                .malformed, of: place(key), expected: "a value", found: "none",
                remedy: "Add the field that the error names.")
        }
        return value
    }

    /// A text that must be there.
    package mutating func text(_ key: String) throws(ServerError) -> [UInt8] {
        guard case .text(let text) = try required(key) else { throw invalid(key, "a text") }
        return text
    }

    /// A text that may be absent.
    package mutating func optionalText(_ key: String) throws(ServerError) -> [UInt8]? {
        members[key] == nil ? nil : try text(key)
    }

    /// A text that a closure reads; the closure returns nil for an invalid one.
    package mutating func text<Value>(
        _ key: String, _ expected: String, _ read: ([UInt8]) -> Value?
    ) throws(ServerError) -> Value {
        guard let value = read(try text(key)) else { throw invalid(key, expected) }
        return value
    }

    /// An integer that must be there.
    package mutating func integer(_ key: String, in range: ClosedRange<Int64>) throws(ServerError) -> Int64 {
        guard case .integer(let value) = try required(key), range.contains(value) else {
            throw invalid(key, "an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// An integer that may be absent.
    package mutating func optionalInteger(_ key: String, in range: ClosedRange<Int64>) throws(ServerError) -> Int64? {
        members[key] == nil ? nil : try integer(key, in: range)
    }

    /// A boolean that must be there.
    package mutating func boolean(_ key: String) throws(ServerError) -> Bool {
        guard case .boolean(let value) = try required(key) else { throw invalid(key, "true or false") }
        return value
    }

    /// A boolean that may be absent.
    package mutating func optionalBoolean(_ key: String) throws(ServerError) -> Bool? {
        members[key] == nil ? nil : try boolean(key)
    }

    /// An array that may be absent.
    package mutating func optionalArray<Value>(
        _ key: String, atMost limit: Int,
        _ read: (CanonicalJSON, String) throws(ServerError) -> Value
    ) throws(ServerError) -> [Value]? {
        members[key] == nil ? nil : try array(key, atMost: limit, read)
    }

    /// An array that must be there, with each element read by a closure that gets its path.
    package mutating func array<Value>(
        _ key: String, atMost limit: Int,
        _ read: (CanonicalJSON, String) throws(ServerError) -> Value
    ) throws(ServerError) -> [Value] {
        guard case .array(let elements) = try required(key) else { throw invalid(key, "an array") }
        guard elements.count <= limit else { throw invalid(key, "at most \(limit) elements") }
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        let place = place(key)
        for (index, element) in elements.enumerated() { values.append(try read(element, "\(place)[\(index)]")) }
        return values
    }

    /// Requires that all members were read.
    package func finish() throws(ServerError) {
        guard let stranger = members.keys.min(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) else { return }
        throw ServerError(
            .malformed, of: place(stranger), expected: "only fields that this version knows", found: "another one",
            remedy: "Leave out the field that the error names.")
    }
}
