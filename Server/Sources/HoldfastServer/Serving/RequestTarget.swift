/// What a request asks for (RFC 9112 3.2): the path as it was sent, and the fields of the query.
///
/// Read in one pass over at most ``maximumSize`` bytes. Nothing is decoded in a path: no path that is published needs
/// it, so `%2f`, `%00` and dots in disguise are refused, and two spellings never mean one document.
struct RequestTarget: Sendable, Hashable {
    /// A field of a query, decoded from `application/x-www-form-urlencoded`. The bytes may be anything.
    struct Field: Sendable, Hashable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// Why a target is refused.
    enum Refusal: Error, Hashable {
        case tooLong, malformed, tooManyFields
    }

    /// With a slash at the beginning; letters, digits and `-._~+@` between slashes, no segment empty or of dots only
    /// but the last, which may be empty.
    let path: [UInt8]
    /// In the order in which they were sent.
    let fields: [Field]
    /// How many bytes the reader looked at, for tests of its effort.
    let effort: Int

    /// Longer than any address that a client of ours asks for.
    static let maximumSize = 4_096
    /// `/app/init` knows four.
    static let maximumFieldCount = 16

    /// Reads a target in origin-form or absolute-form.
    init(_ bytes: some Collection<UInt8>) throws(Refusal) {
        guard bytes.count <= Self.maximumSize else { throw .tooLong }
        var rest = Array(bytes)[...]
        var effort = rest.count
        if rest.first != UInt8(ascii: "/") { rest = try Self.withoutAuthority(rest) }
        let question = rest.firstIndex(of: UInt8(ascii: "?"))
        let path = rest[..<(question ?? rest.endIndex)]
        try Self.require(path)
        self.path = Array(path)
        effort += path.count
        guard let question else {
            fields = []
            self.effort = effort
            return
        }
        let query = rest[(question + 1)...]
        fields = try Self.fields(of: query)
        self.effort = effort + 2 * query.count
    }

    /// Decodes `application/x-www-form-urlencoded`, as queries and the bodies of forms have it.
    static func fields(of text: ArraySlice<UInt8>) throws(Refusal) -> [Field] {
        let parts = text.split(
            separator: UInt8(ascii: "&"), maxSplits: maximumFieldCount, omittingEmptySubsequences: true)
        guard parts.count <= maximumFieldCount else { throw .tooManyFields }
        var fields: [Field] = []
        for part in parts {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            fields.append(Field(name: try decoded(part[..<equals]), value: try decoded(part[equals...].dropFirst())))
        }
        return fields
    }

    /// The values of a field.
    func values(_ name: String) -> [[UInt8]] {
        fields.lazy.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }

    /// Absolute-form: servers must accept it (RFC 9112 3.2.2), and what it says of the authority decides nothing here.
    private static func withoutAuthority(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> ArraySlice<UInt8> {
        for scheme in ["http://", "https://"] where bytes.starts(with: scheme.utf8) {
            let authority = bytes.dropFirst(scheme.utf8.count)
            guard let slash = authority.firstIndex(of: UInt8(ascii: "/")), slash > authority.startIndex else { break }
            return authority[slash...]
        }
        throw .malformed
    }

    private static func require(_ path: ArraySlice<UInt8>) throws(Refusal) {
        guard path.first == UInt8(ascii: "/") else { throw .malformed }
        var segment = 0
        var onlyDots = true
        for byte in path.dropFirst() {
            if byte == UInt8(ascii: "/") {
                guard segment > 0, !onlyDots else { throw .malformed }
                segment = 0
                onlyDots = true
                continue
            }
            guard ASCIIText.isAlphanumeric(byte) || "-._~+@".utf8.contains(byte) else { throw .malformed }
            segment += 1
            if byte != UInt8(ascii: ".") { onlyDots = false }
        }
        guard segment == 0 || !onlyDots else { throw .malformed }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var place = text.startIndex
        while place < text.endIndex {
            switch text[place] {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard text.endIndex - place > 2, let high = digit(text[place + 1]), let low = digit(text[place + 2])
                else { throw .malformed }
                bytes.append(high << 4 | low)
                place += 2
            case let byte:
                // What an URI may not have as it is (RFC 3986 2) is not guessed at.
                guard (0x21...0x7E).contains(byte) else { throw .malformed }
                bytes.append(byte)
            }
            place += 1
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
