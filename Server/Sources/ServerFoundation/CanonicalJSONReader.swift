/// Reads ``CanonicalJSON``, and rejects any other spelling.
///
/// Keys are sorted, so each is compared only with the one before: the work is linear in the number of bytes.
package struct CanonicalJSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private let subject: String

    /// Reads a whole document.
    /// - Parameters:
    ///   - bytes: the document.
    ///   - subject: the subject of errors.
    ///   - limit: the maximum number of bytes.
    /// - Throws: ``ServerError`` `malformed`.
    package static func read(_ bytes: [UInt8], _ subject: String, limit: Int) throws(ServerError) -> CanonicalJSON {
        guard bytes.count <= limit else {
            throw ServerError(.malformed, of: subject, expected: "at most \(limit) bytes", found: "\(bytes.count)")
        }
        var reader = CanonicalJSONReader(bytes: bytes, subject: subject)
        let value = try reader.value(depth: 0)
        guard reader.position == bytes.count else { throw reader.malformed("the end") }
        return value
    }

    private init(bytes: [UInt8], subject: String) {
        self.bytes = bytes
        self.subject = subject
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(ServerError) -> CanonicalJSON {
        guard depth < CanonicalJSON.depth else { throw malformed("at most \(CanonicalJSON.depth) levels") }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["):
            position += 1
            var elements: [CanonicalJSON] = []
            if take("]") { return .array(elements) }
            repeat { elements.append(try value(depth: depth + 1)) } while take(",")
            guard take("]") else { throw malformed("a comma or the end of an array") }
            return .array(elements)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        default: return .integer(try integer())
        }
    }

    private mutating func object(depth: Int) throws(ServerError) -> CanonicalJSON {
        position += 1
        if take("}") { return .object([:]) }
        // Most objects fit into this capacity: growing is expensive.
        var members = [String: CanonicalJSON](minimumCapacity: 6)
        var before: [UInt8]?
        repeat {
            let key = try text()
            guard ASCIIText.isName(key, 1...64, others: "-_") else {
                throw malformed("a key of ASCII letters, digits, hyphens and underscores")
            }
            if let before, !before.lexicographicallyPrecedes(key) {
                throw malformed("keys that are sorted and each there once")
            }
            guard take(":") else { throw malformed("a colon") }
            members[String(decoding: key, as: UTF8.self)] = try value(depth: depth + 1)
            before = key
        } while take(",")
        guard take("}") else { throw malformed("a comma or the end of an object") }
        return .object(members)
    }

    private mutating func word(_ word: String, _ value: CanonicalJSON) throws(ServerError) -> CanonicalJSON {
        guard bytes[position...].starts(with: word.utf8) else { throw malformed("a value") }
        position += word.utf8.count
        return value
    }

    private mutating func integer() throws(ServerError) -> Int64 {
        let digits = bytes[position...].prefix { byte in
            byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        .prefix(18)
        guard let value = Int64(String(decoding: digits, as: UTF8.self)),
            value.magnitude <= CanonicalJSON.maximumInteger.magnitude, String(value).utf8.elementsEqual(digits)
        else { throw malformed("an integer of at most 53 bits") }
        position += digits.count
        return value
    }

    private mutating func text() throws(ServerError) -> [UInt8] {
        guard take("\"") else { throw malformed("a text") }
        // Most texts contain no escapes.
        let plain = bytes[position...].prefix { !CanonicalJSON.needsEscape($0) }
        position += plain.count
        var text = Array(plain)
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil else {
                    throw malformed("text in UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): text.append(try escape())
            case 0..<0x20: throw malformed("control characters escaped")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw malformed("the end of a text")
    }

    /// Reads an escaped character in its canonical spelling.
    private mutating func escape() throws(ServerError) -> UInt8 {
        let rest = bytes[position...]
        for (character, short) in CanonicalJSON.shortEscapes
        where rest.starts(with: [UInt8(ascii: "\\"), short]) {
            position += 2
            return character
        }
        guard rest.starts(with: "\\u00".utf8), let code = Hex.decode(rest.dropFirst(4).prefix(2), count: 1)?.first,
            code < 0x20, CanonicalJSON.shortEscapes[code] == nil
        else { throw malformed("the shortest escape, and only where one is needed") }
        position += 6
        return code
    }

    private func malformed(_ expected: String) -> ServerError {
        ServerError(
            .malformed, of: subject, expected: expected,
            found: position < bytes.count ? "something else at byte \(position)" : "the end")
    }
}
