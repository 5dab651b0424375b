import ServerFoundation

/// The target of a request (RFC 9112 3.2): the path as it was sent, and the fields of the query.
///
/// It is read in one pass over at most ``maximumSize`` bytes. Paths are not decoded, since no published path needs it:
/// `%2f`, `%00` and dot segments are refused, so two spellings never identify the same document.
package struct RequestTarget: Sendable, Hashable {
    /// A field of a query, decoded from `application/x-www-form-urlencoded`, with arbitrary bytes.
    package struct Field: Sendable, Hashable {
        package let name: [UInt8]
        package let value: [UInt8]
    }

    /// The reason why a target is refused.
    package enum Refusal: Error, Hashable {
        case tooLong, malformed, tooManyFields
    }

    /// The path, which starts with a slash. Segments contain letters, digits and `-._~+@`. None is empty or consists
    /// only of dots, except that the last may be empty.
    package let path: [UInt8]
    /// The fields in the order in which they were sent.
    package let fields: [Field]
    /// The number of bytes that the reader examined, for tests of its effort.
    package let effort: Int

    /// Maximum size in bytes; paths that our clients request are shorter.
    package static let maximumSize = 4_096
    /// Maximum number of fields; `/app/init` uses four.
    static let maximumFieldCount = 16

    /// Parses a target in origin-form or absolute-form.
    package init(_ bytes: some Collection<UInt8>) throws(Refusal) {
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

    /// Decodes `application/x-www-form-urlencoded`, for queries and the bodies of forms.
    package static func fields(of text: ArraySlice<UInt8>) throws(Refusal) -> [Field] {
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
    package func values(_ name: String) -> [[UInt8]] {
        fields.lazy.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }

    /// Servers must accept the absolute-form (RFC 9112 3.2.2); its authority is ignored.
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
                // Characters that a URI must not contain unencoded (RFC 3986 2) are refused.
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
