/// Reads JSON (RFC 8259) that can be read in only one way: UTF-8 without byte-order mark, no key twice in an object
/// (regardless of escapes), integers without a fraction or exponent, bounded in size, depth and width.
///
/// It builds no tree: the caller reads the next value, and skipped values are checked just as strictly. It is used
/// before any signature is checked, so it treats keys and texts as bytes: equality of `String` normalizes, and its work
/// on one run of combining marks grows with the square of the run.
package struct StrictJSONReader {
    /// The kind of the next value, by its first character.
    package enum Kind: Sendable {
        case object, array, text, number
        /// `true`, `false`, `null`, or invalid.
        case word
    }

    private struct Frame {
        let isObject: Bool
        /// The index of this object's first key among the keys of all open objects.
        let firstKey: Int
        var count = 0
        /// The key whose value comes next.
        var key = ""
    }

    private struct Key {
        let octets: ArraySlice<UInt8>
        /// Seeded per process, so that an attacker cannot write colliding keys.
        let hash: Int
    }

    private let bytes: [UInt8]
    private var position = 0
    private var frames: [Frame] = []
    private var keys: [Key] = []
    /// The number of comparisons of keys and their bytes: at most six for each byte of any document.
    private(set) var comparisons = 0

    package init(_ bytes: [UInt8], maximumBytes: Int) throws(DocumentError) {
        guard bytes.count <= maximumBytes else {
            throw DocumentError(.tooLarge, expected: "at most \(maximumBytes) bytes", found: "\(bytes.count)")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.starts(with: [0xFF, 0xFE])
        {
            throw DocumentError(.byteOrderMark, expected: "UTF-8 without a byte-order mark", found: "one in front")
        }
        self.bytes = bytes
        frames.reserveCapacity(8)
    }

    /// Throws if anything but white space follows.
    package mutating func finish() throws(DocumentError) {
        skipWhitespace()
        guard position == bytes.count else { throw error(.notJSON, "the end", here) }
    }

    // MARK: Objects and arrays

    package mutating func beginObject() throws(DocumentError) { try begin(isObject: true) }

    package mutating func beginArray() throws(DocumentError) { try begin(isObject: false) }

    /// The key of the next member; nil after the last one, which ends the object. The caller must read or skip its
    /// value.
    ///
    /// A key that is not ASCII is returned as empty, because the caller compares it only with names of fields.
    package mutating func nextKey() throws(DocumentError) -> String? {
        guard let octets = try nextKeyOctets(atMost: DocumentLimits.keyBytes) else { return nil }
        let key = octets.allSatisfy { $0 < 0x80 } ? String(decoding: octets, as: UTF8.self) : ""
        let top = frames.count - 1
        frames[top].key = key
        try remember(Key(octets: octets, hash: octets.hashValue), since: frames[top].firstKey)
        return key
    }

    /// Like ``nextKey()``, for objects of any width: returns the bytes of the key and remembers none. The caller
    /// refuses duplicates.
    package mutating func nextKeyOctets(atMost limit: Int) throws(DocumentError) -> ArraySlice<UInt8>? {
        guard try next(closing: "}") else { return nil }
        guard peek == UInt8(ascii: "\"") else { throw error(.notJSON, "a key", here) }
        let octets = try octets(atMost: limit, of: "a key")
        skipWhitespace()
        guard take(":") else { throw error(.notJSON, "a colon", here) }
        return octets
    }

    private mutating func remember(_ key: Key, since first: Int) throws(DocumentError) {
        for earlier in keys[first...] {
            comparisons += 1
            guard earlier.hash == key.hash, earlier.octets.count == key.octets.count else { continue }
            comparisons += key.octets.count
            guard earlier.octets != key.octets else {
                throw error(
                    .duplicateKey, "each key once", "\(String(decoding: key.octets, as: UTF8.self).quoted) twice")
            }
        }
        guard keys.count - first < DocumentLimits.members else {
            throw error(.tooManyMembers, "at most \(DocumentLimits.members) members", "more")
        }
        keys.append(key)
    }

    /// Whether the array has another element, which the caller must read or skip; false ends the array.
    package mutating func nextElement() throws(DocumentError) -> Bool { try next(closing: "]") }

    /// Reads an array.
    /// - Parameter what: names the elements in an error.
    mutating func list<Element>(
        atMost limit: Int, of what: String, _ read: (inout Self) throws(DocumentError) -> Element
    ) throws(DocumentError) -> [Element] {
        var elements: [Element] = []
        try beginArray()
        while try nextElement() {
            guard elements.count < limit else { throw error(.tooManyEntries, "at most \(limit) \(what)", "more") }
            elements.append(try read(&self))
        }
        return elements
    }

    private mutating func begin(isObject: Bool) throws(DocumentError) {
        skipWhitespace()
        guard take(isObject ? "{" : "[") else { throw wrongType(isObject ? "an object" : "an array") }
        guard frames.count < DocumentLimits.depth else {
            throw error(.tooDeep, "at most \(DocumentLimits.depth) levels", "more")
        }
        frames.append(Frame(isObject: isObject, firstKey: keys.count))
    }

    private mutating func next(closing: Unicode.Scalar) throws(DocumentError) -> Bool {
        let top = frames.count - 1
        guard top >= 0, frames[top].isObject == (closing == "}") else { throw error(.notJSON, "a value", here) }
        guard !Task.isCancelled else { throw DocumentError.canceled }
        skipWhitespace()
        if take(closing) {
            keys.removeSubrange(frames.removeLast().firstKey...)
            return false
        }
        if frames[top].count > 0 {
            guard take(",") else { throw error(.notJSON, "a comma or the end", here) }
            skipWhitespace()
        }
        frames[top].count += 1
        return true
    }

    // MARK: Values

    /// An integer of at most 53 bits, from its digits as written.
    package mutating func integer() throws(DocumentError) -> Int64 {
        skipWhitespace()
        let start = position
        guard let first = peek, first == UInt8(ascii: "-") || Self.isDigit(first) else { throw wrongType("an integer") }
        try skipNumber()
        // Limited to the longest integer, so that a number of a million digits costs nothing.
        let text = String(decoding: bytes[start..<min(position, start + 20)], as: UTF8.self)
        // Uses the magnitude, because the minimum of Int64 has no absolute value.
        guard position - start < 20, text != "-0", let value = Int64(text),
            value.magnitude <= DocumentLimits.greatestInteger.magnitude
        else {
            throw error(.notAnInteger, "an integer of at most 53 bits, without fraction and exponent", text.quoted)
        }
        return value
    }

    /// An integer as another type. Swift's own conversion traps if the number does not fit, and `Int` has 32 bits on
    /// some systems, so every number from a peer that becomes a type other than `Int64` is converted here.
    package mutating func integer<Number: FixedWidthInteger>(
        as type: Number.Type = Number.self
    ) throws(DocumentError) -> Number {
        let value = try integer()
        guard let number = Number(exactly: value) else {
            throw error(.invalidValue, "an integer from \(Number.min) to \(Number.max)", "\(value)")
        }
        return number
    }

    /// A decimal number from 0 to 1 with at most six digits after its point, in millionths. No other spelling is
    /// accepted: no sign, no exponent, exactly one digit before the point.
    mutating func millionths() throws(DocumentError) -> Int {
        skipWhitespace()
        let start = position
        guard let first = peek, first == UInt8(ascii: "-") || Self.isDigit(first) else { throw wrongType("a number") }
        try skipNumber()
        let text = bytes[start..<position].prefix(9)
        var value = 0
        for place in 0..<7 {
            let index = text.startIndex + (place == 0 ? 0 : place + 1)
            var digit = 0
            if text.indices.contains(index) {
                guard Self.isDigit(text[index]) else { throw noFraction(text) }
                digit = Int(text[index] - UInt8(ascii: "0"))
            }
            value = value * 10 + digit
        }
        guard text.count <= 8, text.count < 2 || text.dropFirst().first == UInt8(ascii: "."), value <= 1_000_000 else {
            throw noFraction(text)
        }
        return value
    }

    private func noFraction(_ text: ArraySlice<UInt8>) -> DocumentError {
        error(
            .invalidValue, "a decimal number from 0 to 1 with at most six digits after the point",
            String(decoding: text, as: UTF8.self).quoted)
    }

    package mutating func boolean() throws(DocumentError) -> Bool {
        skipWhitespace()
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw wrongType("true or false")
    }

    /// Takes a null, if one is next.
    package mutating func takeNull() -> Bool {
        skipWhitespace()
        return takeWord("null")
    }

    /// The kind of the next value.
    package var nextKind: Kind {
        mutating get {
            skipWhitespace()
            return switch peek {
            case UInt8(ascii: "{"): .object
            case UInt8(ascii: "["): .array
            case UInt8(ascii: "\""): .text
            case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): .number
            default: .word
            }
        }
    }

    /// Text, with its escapes resolved. Use it only for printing; compare and look up bytes.
    mutating func string() throws(DocumentError) -> String { String(decoding: try octets(), as: UTF8.self) }

    /// The bytes of a text, in UTF-8, with its escapes resolved.
    /// - Parameters:
    ///   - limit: the maximum number of bytes; reading stops there.
    ///   - what: names the text in an error.
    package mutating func octets(
        atMost limit: Int = .max, of what: String = "a text"
    ) throws(DocumentError) -> ArraySlice<UInt8> {
        skipWhitespace()
        guard take("\"") else { throw wrongType(what) }
        var start = position
        var resolved: [UInt8] = []
        while let byte = peek {
            guard resolved.count + (position - start) <= limit else {
                throw error(.textTooLong, "\(what) of at most \(limit) octets", "a longer one")
            }
            switch byte {
            case UInt8(ascii: "\""):
                let rest = bytes[start..<position]
                position += 1
                return resolved.isEmpty ? rest : resolved + rest
            case UInt8(ascii: "\\"):
                resolved += bytes[start..<position]
                position += 1
                try resolveEscape(into: &resolved)
                start = position
            case 0..<0x20: throw error(.notJSON, "control characters escaped", "one as it is")
            case 0..<0x80: position += 1
            default: position += try lengthOfSequence()
            }
        }
        throw error(.notJSON, "the end of a text", here)
    }

    /// The bytes of any value as written, checked as strictly as values that are read.
    package mutating func valueOctets() throws(DocumentError) -> ArraySlice<UInt8> {
        skipWhitespace()
        let start = position
        try skipValue()
        return bytes[start..<position]
    }

    /// Skips any value, checked as strictly as values that are read.
    package mutating func skipValue() throws(DocumentError) {
        switch nextKind {
        case .object:
            try beginObject()
            while try nextKey() != nil { try skipValue() }
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        case .text: _ = try octets()
        case .number: try skipNumber()
        case .word:
            guard takeWord("true") || takeWord("false") || takeWord("null") else {
                throw error(.notJSON, "a value", here)
            }
        }
    }

    // MARK: Errors

    /// An error at the field and the entry that are being read.
    package func error(_ code: DocumentError.Code, _ expected: String, _ found: String) -> DocumentError {
        DocumentError(
            code, entry: frames.first { !$0.isObject }.map { max(0, $0.count - 1) },
            field: frames.last { $0.isObject && !$0.key.isEmpty }?.key, expected: expected, found: found)
    }

    /// An error about an object that was read to its end; `field` may be missing from it.
    func error(_ code: DocumentError.Code, field: String, _ expected: String, _ found: String) -> DocumentError {
        DocumentError(code, entry: error(code, "", "").entry, field: field, expected: expected, found: found)
    }

    /// The current position, from the outermost object inward, such as `hosts[3].pins[1].pin`; empty outside of every
    /// object.
    package var path: String {
        var path = ""
        for frame in frames {
            if !frame.isObject {
                path += "[\(max(0, frame.count - 1))]"
            } else if !frame.key.isEmpty {
                let isPlain = frame.key.utf8.allSatisfy { Self.isDigit($0) || (0x61...0x7A).contains($0 | 0x20) }
                path += (path.isEmpty ? "" : ".") + (isPlain ? frame.key : frame.key.quoted)
            }
        }
        return path
    }

    private func wrongType(_ expected: String) -> DocumentError { error(.wrongType, expected, here) }

    private var here: String {
        guard let peek else { return "the end at byte \(position)" }
        return "\(String(decoding: [peek], as: UTF8.self).quoted) at byte \(position)"
    }
}

extension StrictJSONReader {
    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func skipWhitespace() {
        while let peek, peek == 0x20 || peek == 0x0A || peek == 0x0D || peek == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    /// Skips a number: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`, RFC 8259 6.
    private mutating func skipNumber() throws(DocumentError) {
        _ = take("-")
        if !take("0") { try skipDigits() }
        if take(".") { try skipDigits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try skipDigits()
        }
        if let peek, Self.isDigit(peek) { throw error(.notJSON, "a number without leading zeros", here) }
    }

    private mutating func skipDigits() throws(DocumentError) {
        let start = position
        while let peek, Self.isDigit(peek) { position += 1 }
        guard position > start else { throw error(.notJSON, "a digit", here) }
    }

    private mutating func resolveEscape(into resolved: inout [UInt8]) throws(DocumentError) {
        guard let character = peek else { throw error(.notJSON, "an escape", here) }
        position += 1
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): resolved.append(character)
        case UInt8(ascii: "b"): resolved.append(0x08)
        case UInt8(ascii: "f"): resolved.append(0x0C)
        case UInt8(ascii: "n"): resolved.append(0x0A)
        case UInt8(ascii: "r"): resolved.append(0x0D)
        case UInt8(ascii: "t"): resolved.append(0x09)
        case UInt8(ascii: "u"):
            var value = try fourDigits()
            if (0xD800..<0xDC00).contains(value) {
                guard take("\\"), take("u") else { throw halfPair }
                let low = try fourDigits()
                guard (0xDC00..<0xE000).contains(low) else { throw halfPair }
                value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(value) else { throw halfPair }
            resolved += scalar.utf8
        default: throw error(.notJSON, "an escape of JSON", "another")
        }
    }

    private var halfPair: DocumentError { error(.notUTF8, "whole surrogate pairs", "half of one") }

    private mutating func fourDigits() throws(DocumentError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hexadecimal.value) else {
                throw error(.notJSON, "four hexadecimal digits", here)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// The length of the UTF-8 sequence that begins here, RFC 3629 4.
    private func lengthOfSequence() throws(DocumentError) -> Int {
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch bytes[position] {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard length > 0, position + length <= bytes.count, second.contains(bytes[position + 1]),
            bytes[(position + 2)..<(position + length)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { throw error(.notUTF8, "UTF-8", "other octets at byte \(position)") }
        return length
    }
}
