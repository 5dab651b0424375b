import Holdfast

/// Metadata as it was served, including unknown fields, because the signature covers all of it.
///
/// Texts are bytes. Members are sorted by the bytes of their keys: this order finds duplicate keys however they are
/// escaped, and is the order of canonical JSON.
package enum JSONTree: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package let key: ArraySlice<UInt8>
        /// The member's place in the order in which the members were served.
        let position: Int
        package let value: JSONTree
    }

    case null
    case boolean(Bool)
    case integer(Int64)
    case text(ArraySlice<UInt8>)
    case array([JSONTree])
    case object([Member])
}

extension JSONTree {
    /// Reads a whole file.
    /// - Parameter comparisons: counts the comparisons of keys, for tests. It grows like n log n with the number of
    ///   members.
    init(_ octets: [UInt8], maximumBytes: Int, comparisons: inout Int) throws(TUFError) {
        do throws(DocumentError) {
            var reader = try StrictJSONReader(octets, maximumBytes: maximumBytes)
            self = try Self.value(&reader, &comparisons)
            try reader.finish()
        } catch {
            throw TUFError(reading: error)
        }
    }

    private static func value(
        _ reader: inout StrictJSONReader, _ comparisons: inout Int
    ) throws(DocumentError) -> JSONTree {
        switch reader.nextKind {
        case .object:
            try reader.beginObject()
            var members: [Member] = []
            while let key = try reader.nextKeyOctets(atMost: TUFSettings.keyBytes) {
                members.append(
                    Member(key: key, position: members.count, value: try value(&reader, &comparisons)))
            }
            return .object(try sorted(members, &reader, &comparisons))
        case .array:
            try reader.beginArray()
            var elements: [JSONTree] = []
            while try reader.nextElement() { elements.append(try value(&reader, &comparisons)) }
            return .array(elements)
        case .text: return .text(try reader.octets())
        case .number: return .integer(try reader.integer())
        case .word: return reader.takeNull() ? .null : .boolean(try reader.boolean())
        }
    }

    private static func sorted(
        _ members: [Member], _ reader: inout StrictJSONReader, _ comparisons: inout Int
    ) throws(DocumentError) -> [Member] {
        var count = 0
        let sorted = members.sorted { first, second in
            count += 1
            return first.key.lexicographicallyPrecedes(second.key)
        }
        comparisons += count + sorted.count
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.key == second.key {
            throw reader.error(
                .duplicateKey, "each key once", "\(String(decoding: first.key, as: UTF8.self).quoted) twice")
        }
        return sorted
    }
}

extension JSONTree {
    /// The value of a member; nil if this is not an object, or has no such member.
    package subscript(_ key: StaticString) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        let wanted = key.description.utf8
        var (low, high) = (0, members.count)
        while low < high {
            let middle = low + (high - low) / 2
            if members[middle].key.lexicographicallyPrecedes(wanted) { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low].key.elementsEqual(wanted) ? members[low].value : nil
    }

    /// The kind of value, for errors.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "true or false"
        case .integer: "an integer"
        case .text: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
