/// Reads JSON as tools write it (RFC 8259): white space, members in any order, every escape. It rejects JSON that
/// readers interpret differently: a duplicate member, a number that is not an integer of 53 bits (`60.0` is one, as in
/// JSON Schema), text that is not UTF-8 or half a surrogate pair, a null, and anything after the value.
///
/// Third-party JSON may contain more: a null is left out, a number with a fraction or an exponent is read as its text,
/// and a name may have any printable character.
///
/// It reads each byte once, and allows no nesting deeper than ``CanonicalJSON/depth``.
package struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private let subject: String
    private let isOfStrangers: Bool

    /// Reads a value that is all of the bytes.
    /// - Parameters:
    ///   - bytes: the text.
    ///   - subject: the subject of errors.
    ///   - limit: the maximum number of bytes.
    ///   - isOfStrangers: whether a third-party program wrote it, which users of this server cannot correct.
    /// - Throws: ``ServerError`` `malformed`.
    package static func read(
        _ bytes: [UInt8], _ subject: String, limit: Int, ofStrangers isOfStrangers: Bool = false
    ) throws(ServerError) -> CanonicalJSON {
        guard bytes.count <= limit else {
            throw ServerError(.malformed, of: subject, expected: "at most \(limit) bytes", found: "\(bytes.count)")
        }
        var reader = JSONReader(bytes: bytes, subject: subject, isOfStrangers: isOfStrangers)
        let value = try reader.value(depth: 0)
        guard reader.position == bytes.count else { throw reader.malformed("the end") }
        return value
    }

    private init(bytes: [UInt8], subject: String, isOfStrangers: Bool) {
        self.bytes = bytes
        self.subject = subject
        self.isOfStrangers = isOfStrangers
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhiteSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    /// Reads a character with the white space around it.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipWhiteSpace()
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        skipWhiteSpace()
        return true
    }

    private mutating func value(depth: Int) throws(ServerError) -> CanonicalJSON {
        guard depth < CanonicalJSON.depth else { throw malformed("at most \(CanonicalJSON.depth) levels") }
        skipWhiteSpace()
        let value: CanonicalJSON
        switch next {
        case UInt8(ascii: "{"): value = try object(depth: depth)
        case UInt8(ascii: "["): value = try array(depth: depth)
        case UInt8(ascii: "\""): value = .text(try text())
        case UInt8(ascii: "t"): value = try word("true", .boolean(true))
        case UInt8(ascii: "f"): value = try word("false", .boolean(false))
        case UInt8(ascii: "n"): throw malformed("no null: a field without a value is left out")
        default: value = isOfStrangers ? try number() : .integer(try integer())
        }
        skipWhiteSpace()
        return value
    }

    private mutating func array(depth: Int) throws(ServerError) -> CanonicalJSON {
        var elements: [CanonicalJSON] = []
        _ = take("[")
        if take("]") { return .array(elements) }
        repeat {
            if try isNothing() { continue }
            elements.append(try value(depth: depth + 1))
        } while take(",")
        guard take("]") else { throw malformed("a comma or the end of an array") }
        return .array(elements)
    }

    private mutating func object(depth: Int) throws(ServerError) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [:]
        var places: [String: Int] = [:]
        _ = take("{")
        if take("}") { return .object(members) }
        repeat {
            let place = position
            let key = try text()
            guard
                isOfStrangers
                    ? ASCIIText.isPrintable(key, 1...64, spaces: true) : ASCIIText.isName(key, 1...64, others: "-_")
            else { throw malformed("names of fields of ASCII letters, digits, hyphens and underscores") }
            guard take(":") else { throw malformed("a colon") }
            let name = String(decoding: key, as: UTF8.self)
            // Check before the value, which may have errors too.
            if let first = places.updateValue(place, forKey: name) { throw duplicate(name, first, place) }
            if try isNothing() { continue }
            members[name] = try value(depth: depth + 1)
        } while take(",")
        guard take("}") else { throw malformed("a comma or the end of an object") }
        return .object(members)
    }

    /// Reads a null in third-party JSON.
    private mutating func isNothing() throws(ServerError) -> Bool {
        skipWhiteSpace()
        guard isOfStrangers, next == UInt8(ascii: "n") else { return false }
        _ = try word("null", .boolean(false))
        skipWhiteSpace()
        return true
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
        // An exponent, or a fraction other than zeros, is left for the caller, which rejects it.
        guard let value = Int64(String(decoding: digits, as: UTF8.self)),
            value.magnitude <= CanonicalJSON.maximumInteger.magnitude, String(value).utf8.elementsEqual(digits)
        else { throw malformed("a value; numbers are integers of at most 53 bits") }
        position += digits.count
        guard next == UInt8(ascii: ".") else { return value }
        let zeros = bytes[(position + 1)...].prefix { $0 == UInt8(ascii: "0") }.count
        if zeros > 0 { position += 1 + zeros }
        return value
    }

    /// Reads any number in third-party JSON.
    private mutating func number() throws(ServerError) -> CanonicalJSON {
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let text = bytes[position...].prefix { byte in
            "+-.eE".utf8.contains(byte) || isDigit(byte)
        }
        guard text.contains(where: { ".eE".utf8.contains($0) }) else { return .integer(try integer()) }
        guard text.count <= 32, let first = text.first, first == UInt8(ascii: "-") || isDigit(first),
            text.last.map(isDigit) == true, Double(String(decoding: text, as: UTF8.self)) != nil
        else { throw malformed("a value; numbers have at most 32 characters") }
        position += text.count
        return .text(Array(text))
    }

    private mutating func text() throws(ServerError) -> [UInt8] {
        guard next == UInt8(ascii: "\"") else { throw malformed("a text") }
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard String(validating: text, as: UTF8.self) != nil else { throw malformed("text in UTF-8") }
                return text
            case UInt8(ascii: "\\"): text += try escape()
            case 0..<0x20: throw malformed("control characters escaped")
            default: text.append(byte)
            }
        }
        throw malformed("the end of a text")
    }

    /// Reads the rest of an escape after the backslash (RFC 8259 7).
    private mutating func escape() throws(ServerError) -> [UInt8] {
        guard let byte = next else { throw malformed("an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "u"): return Array(String(try scalar()).utf8)
        default:
            guard let short = CanonicalJSON.shortEscapes.first(where: { $0.value == byte }) else {
                throw malformed("an escape of JSON")
            }
            return [short.key]
        }
    }

    private mutating func scalar() throws(ServerError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, bytes[position...].starts(with: "\\u".utf8) else { throw malformed("both surrogates") }
        position += 2
        let second = try codeUnit()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw malformed("both surrogates") }
        return scalar
    }

    private mutating func codeUnit() throws(ServerError) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed("four hexadecimal digits") }
        position += 4
        return unit
    }

    private func duplicate(_ name: String, _ first: Int, _ second: Int) -> ServerError {
        func line(_ place: Int) -> Int { 1 + bytes[..<place].count { $0 == UInt8(ascii: "\n") } }
        return ServerError(
            .malformed, of: subject, expected: "each field once",
            found: "\(name) in line \(line(first)), and again in line \(line(second))",
            remedy: "Remove one of the two: it is unclear which of them is meant.")
    }

    private func malformed(_ expected: String) -> ServerError {
        ServerError(
            .malformed, of: subject, expected: expected,
            found: position < bytes.count ? "something else at byte \(position)" : "the end")
    }
}
