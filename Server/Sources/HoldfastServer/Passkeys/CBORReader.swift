/// Reads CBOR in the one canonical form that authenticators write (CTAP 2.1 8): the shortest head of each value, definite
/// lengths, sorted maps with each key once. Everything else is refused.
///
/// Each octet is looked at once; a count that promises more than there are octets is refused before anything is read.
struct CBORReader {
    /// What nests deeper is not written by authenticators (CTAP 2.1 8).
    static let depth = 4
    /// More values than a key, an attestation of kind "none" and extensions have by far.
    private static let greatestCount = 512

    private let octets: [UInt8]
    private let subject: String
    private var position = 0
    private var count = 0

    /// - Parameters:
    ///   - octets: one value or more.
    ///   - subject: what it is, for errors.
    ///   - limit: how many octets it may have.
    /// - Throws: ``ServerError`` `malformed` if there are more.
    init(_ octets: some Collection<UInt8>, _ subject: String, limit: Int) throws(ServerError) {
        guard octets.count <= limit else {
            throw ServerError(.malformed, of: subject, expected: "at most \(limit) octets", found: "\(octets.count)")
        }
        self.octets = Array(octets)
        self.subject = subject
    }

    /// Reads a value that is all of the octets.
    /// - Throws: ``ServerError`` `malformed`.
    static func read(
        _ octets: some Collection<UInt8>, _ subject: String, limit: Int
    ) throws(ServerError) -> CBORValue {
        var reader = try CBORReader(octets, subject, limit: limit)
        let value = try reader.value()
        try reader.finish()
        return value
    }

    /// Reads the next value.
    /// - Throws: ``ServerError`` `malformed`.
    mutating func value() throws(ServerError) -> CBORValue { try value(depth: 0) }

    /// Nothing may follow.
    /// - Throws: ``ServerError`` `malformed`.
    func finish() throws(ServerError) {
        guard position == octets.count else { throw malformed("the end") }
    }

    private mutating func value(depth: Int) throws(ServerError) -> CBORValue {
        count += 1
        guard count <= Self.greatestCount else { throw malformed("at most \(Self.greatestCount) values") }
        guard position < octets.count else { throw malformed("a value") }
        let first = octets[position]
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
        case 2: return .octets(try string())
        case 3:
            let text = try string()
            guard String(validating: text, as: UTF8.self) != nil else { throw malformed("text in UTF-8") }
            return .text(text)
        case 4: return try array(depth: depth)
        case 5: return try map(depth: depth)
        default: throw malformed("an integer, octets, text, an array, a map, a boolean or null")
        }
    }

    /// The number behind the kind of a value (RFC 8949 3), in its shortest form.
    private mutating func head() throws(ServerError) -> UInt64 {
        let information = octets[position] & 0x1F
        position += 1
        guard information >= 24 else { return UInt64(information) }
        guard information <= 27 else { throw malformed("a definite length") }
        let length = 1 << Int(information - 24)
        guard length <= octets.count - position else { throw malformed("\(length) octets of a number") }
        let number = octets[position..<position + length].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        // What fits into half as many octets has to be written there.
        let least: UInt64 = length == 1 ? 24 : 1 << (UInt64(length) * 4)
        guard number >= least else { throw malformed("the shortest form of a number") }
        position += length
        return number
    }

    private mutating func string() throws(ServerError) -> [UInt8] {
        let length = try head()
        guard length <= UInt64(octets.count - position) else { throw malformed("\(length) octets") }
        let end = position + Int(length)
        defer { position = end }
        return Array(octets[position..<end])
    }

    /// The number of values to come, each of which has so many octets at least.
    private mutating func elements(depth: Int, ofOctets least: Int) throws(ServerError) -> Int {
        guard depth < Self.depth else { throw malformed("at most \(Self.depth) levels") }
        let number = try head()
        guard number <= UInt64((octets.count - position) / least) else { throw malformed("\(number) values") }
        return Int(number)
    }

    private mutating func array(depth: Int) throws(ServerError) -> CBORValue {
        var elements: [CBORValue] = []
        for _ in 0..<(try self.elements(depth: depth, ofOctets: 1)) { elements.append(try value(depth: depth + 1)) }
        return .array(elements)
    }

    private mutating func map(depth: Int) throws(ServerError) -> CBORValue {
        var members: [CBORValue.Member] = []
        var last: ArraySlice<UInt8>?
        for _ in 0..<(try elements(depth: depth, ofOctets: 2)) {
            let start = position
            let key = try value(depth: depth + 1)
            switch key {
            case .unsigned, .negative, .text: break
            default: throw malformed("integers and texts as keys")
            }
            let written = octets[start..<position]
            if let last, !Self.precedes(last, written) { throw malformed("sorted keys, each once") }
            last = written
            members.append(CBORValue.Member(key: key, value: try value(depth: depth + 1)))
        }
        return .map(members)
    }

    /// The order of keys (CTAP 2.1 8): by kind, then the shorter first, then by octets.
    private static func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        let (leftKind, rightKind) = ((left.first ?? 0) >> 5, (right.first ?? 0) >> 5)
        if leftKind != rightKind { return leftKind < rightKind }
        if left.count != right.count { return left.count < right.count }
        return left.lexicographicallyPrecedes(right)
    }

    private func malformed(_ expected: String) -> ServerError {
        ServerError(
            .malformed, of: subject, expected: expected,
            found: position < octets.count ? "something else at octet \(position)" : "the end",
            remedy: "Send the octets that the authenticator wrote, unchanged.")
    }
}
