import ServerFoundation

/// Reads CBOR in the canonical form that authenticators write (CTAP 2.1 8): the shortest head of each value, definite
/// lengths, sorted maps with each key once. Any other form is an error.
///
/// It reads each byte once, and rejects a count that exceeds the remaining bytes before it reads any value.
struct CBORReader {
    /// Maximum nesting of authenticators' CBOR (CTAP 2.1 8).
    static let depth = 4
    /// Maximum number of values, far more than those of a key, an attestation of kind "none" and extensions.
    private static let maximumCount = 512

    private let bytes: [UInt8]
    private let subject: String
    private var position = 0
    private var count = 0

    /// - Parameters:
    ///   - bytes: one value or more.
    ///   - subject: the subject of errors.
    ///   - limit: the maximum number of bytes.
    /// - Throws: ``ServerError`` `malformed` if the bytes exceed the limit.
    init(_ bytes: some Collection<UInt8>, _ subject: String, limit: Int) throws(ServerError) {
        guard bytes.count <= limit else {
            throw ServerError(.malformed, of: subject, expected: "at most \(limit) bytes", found: "\(bytes.count)")
        }
        self.bytes = Array(bytes)
        self.subject = subject
    }

    /// Reads a value that is all of the bytes.
    /// - Throws: ``ServerError`` `malformed`.
    static func read(
        _ bytes: some Collection<UInt8>, _ subject: String, limit: Int
    ) throws(ServerError) -> CBORValue {
        var reader = try CBORReader(bytes, subject, limit: limit)
        let value = try reader.value()
        try reader.finish()
        return value
    }

    /// Reads the next value.
    /// - Throws: ``ServerError`` `malformed`.
    mutating func value() throws(ServerError) -> CBORValue { try value(depth: 0) }

    /// Requires the end of the bytes.
    /// - Throws: ``ServerError`` `malformed`.
    func finish() throws(ServerError) {
        guard position == bytes.count else { throw malformed("the end") }
    }

    private mutating func value(depth: Int) throws(ServerError) -> CBORValue {
        count += 1
        guard count <= Self.maximumCount else { throw malformed("at most \(Self.maximumCount) values") }
        guard position < bytes.count else { throw malformed("a value") }
        let first = bytes[position]
        switch first {
        case 0xF4, 0xF5:
            position += 1
            return .boolean(first == 0xF5)
        case 0xF6:
            position += 1
            return .null
        default: break
        }
        switch first >> 5 {
        case 0: return .unsigned(try head())
        case 1: return .negative(try head())
        case 2: return .bytes(try string())
        case 3:
            let text = try string()
            guard String(validating: text, as: UTF8.self) != nil else { throw malformed("text in UTF-8") }
            return .text(text)
        case 4: return try array(depth: depth)
        case 5: return try map(depth: depth)
        default: throw malformed("an integer, bytes, text, an array, a map, a boolean or null")
        }
    }

    /// The argument of a value's head (RFC 8949 3), in its shortest form.
    private mutating func head() throws(ServerError) -> UInt64 {
        let information = bytes[position] & 0x1F
        position += 1
        guard information >= 24 else { return UInt64(information) }
        guard information <= 27 else { throw malformed("a definite length") }
        let length = 1 << Int(information - 24)
        guard length <= bytes.count - position else { throw malformed("\(length) bytes of a number") }
        let number = bytes[position..<position + length].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        // A number that fits into half as many bytes must be written in those.
        let least: UInt64 = length == 1 ? 24 : 1 << (UInt64(length) * 4)
        guard number >= least else { throw malformed("the shortest form of a number") }
        position += length
        return number
    }

    private mutating func string() throws(ServerError) -> [UInt8] {
        let length = try head()
        guard length <= UInt64(bytes.count - position) else { throw malformed("\(length) bytes") }
        let end = position + Int(length)
        defer { position = end }
        return Array(bytes[position..<end])
    }

    /// The number of elements that follow, each of at least `least` bytes.
    private mutating func elements(depth: Int, ofBytes least: Int) throws(ServerError) -> Int {
        guard depth < Self.depth else { throw malformed("at most \(Self.depth) levels") }
        let number = try head()
        guard number <= UInt64((bytes.count - position) / least) else { throw malformed("\(number) values") }
        return Int(number)
    }

    private mutating func array(depth: Int) throws(ServerError) -> CBORValue {
        var elements: [CBORValue] = []
        for _ in 0..<(try self.elements(depth: depth, ofBytes: 1)) { elements.append(try value(depth: depth + 1)) }
        return .array(elements)
    }

    private mutating func map(depth: Int) throws(ServerError) -> CBORValue {
        var members: [CBORValue.Member] = []
        var last: ArraySlice<UInt8>?
        for _ in 0..<(try elements(depth: depth, ofBytes: 2)) {
            let start = position
            let key = try value(depth: depth + 1)
            switch key {
            case .unsigned, .negative, .text: break
            default: throw malformed("integers and texts as keys")
            }
            let written = bytes[start..<position]
            if let last, !Self.precedes(last, written) { throw malformed("sorted keys, each once") }
            last = written
            members.append(CBORValue.Member(key: key, value: try value(depth: depth + 1)))
        }
        return .map(members)
    }

    /// The canonical order of keys (CTAP 2.1 8): by major type, then by length, then by bytes.
    private static func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        let (leftKind, rightKind) = ((left.first ?? 0) >> 5, (right.first ?? 0) >> 5)
        if leftKind != rightKind { return leftKind < rightKind }
        if left.count != right.count { return left.count < right.count }
        return left.lexicographicallyPrecedes(right)
    }

    private func malformed(_ expected: String) -> ServerError {
        ServerError(
            .malformed, of: subject, expected: expected,
            found: position < bytes.count ? "something else at byte \(position)" : "the end",
            remedy: "Send the bytes that the authenticator wrote, unchanged.")
    }
}
