/// A cursor over DER (ITU-T X.690) that returns ranges and copies nothing.
///
/// It accepts what DER allows and nothing else: definite lengths in their shortest form, single-byte identifiers. X.509
/// uses no identifier above 30, so the long form is an error. The reader does not recurse: a caller that reads nested
/// elements does.
package struct DERReader {
    /// One element: its identifier byte, the range of identifier, length and content, and the range of the content.
    package struct Element {
        let tag: UInt8
        package let encoded: Range<Int>
        package let content: Range<Int>
    }

    let bytes: [UInt8]
    private(set) var position: Int
    let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes, in: 0..<bytes.count) }

    /// Reads inside `range`, which must lie within `bytes`; a range that does not is cut down to the bytes.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        self.bytes = bytes
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// A reader of the content of a SEQUENCE with nothing after it in `range`, or in all of the bytes.
    package init(sequence bytes: [UInt8], in range: Range<Int>? = nil) throws(DERError) {
        self.init(bytes, in: try Self.only(DERTag.sequence, of: bytes, in: range).content)
    }

    /// The element with this identifier, with nothing after it in `range`, or in all of the bytes.
    static func only(_ tag: UInt8, of bytes: [UInt8], in range: Range<Int>? = nil) throws(DERError) -> Element {
        var reader = DERReader(bytes, in: range ?? 0..<bytes.count)
        let element = try reader.next(tag)
        try reader.finish()
        return element
    }

    var isAtEnd: Bool { position == end }

    /// The identifier byte of the next element, nil at the end.
    var nextTag: UInt8? { position < end ? bytes[position] : nil }

    mutating func next() throws(DERError) -> Element {
        let start = position
        guard start < end else { throw DERError(.truncated, at: start) }
        let tag = bytes[start]
        guard tag & 0x1F != 0x1F else { throw DERError(.longIdentifier, at: start) }
        var cursor = start + 1
        guard cursor < end else { throw DERError(.truncated, at: cursor) }
        let first = bytes[cursor]
        cursor += 1
        var length = Int(first)
        if first >= 0x80 {
            let octets = Int(first & 0x7F)
            guard octets > 0 else { throw DERError(.indefiniteLength, at: start) }
            guard octets <= 4 else { throw DERError(.lengthTooLarge, at: start) }
            guard end - cursor >= octets else { throw DERError(.truncated, at: cursor) }
            guard let long: Int = DERLength.value(of: bytes[cursor..<cursor + octets]) else {
                throw DERError(.lengthTooLarge, at: start)
            }
            length = long
            guard length >= 0x80, bytes[cursor] != 0 else { throw DERError(.lengthNotMinimal, at: start) }
            cursor += octets
        }
        guard end - cursor >= length else { throw DERError(.truncated, at: start) }
        position = cursor + length
        return Element(tag: tag, encoded: start..<position, content: cursor..<position)
    }

    package mutating func next(_ tag: UInt8) throws(DERError) -> Element {
        guard let found = nextTag else { throw DERError(.truncated, at: position) }
        guard found == tag else { throw DERError(.unexpectedTag(expected: tag, found: found), at: position) }
        return try next()
    }

    /// The bytes of the next BIT STRING, of which every bit is used (X.690 8.6.2.2).
    /// - Parameter what: names it in an error.
    package mutating func nextBits(of what: String) throws(DERError) -> Range<Int> {
        let bits = try next(DERTag.bitString).content
        guard bytes[bits].first == 0 else {
            throw DERError(.invalidValue("\(what) with unused bits"), at: bits.lowerBound)
        }
        return bits.dropFirst()
    }

    /// The next element if it has this identifier; nil if it has another one or no element is left. The cursor then
    /// stays.
    package mutating func nextIfPresent(_ tag: UInt8) throws(DERError) -> Element? { nextTag == tag ? try next() : nil }

    /// Throws unless everything was read: attackers hide data after the last element.
    package func finish() throws(DERError) {
        guard isAtEnd else { throw DERError(.trailingBytes, at: position) }
    }

    /// A reader of the content of a constructed element.
    package func inside(_ element: Element) -> DERReader { DERReader(bytes, in: element.content) }
}

/// Identifier bytes that X.509 uses (X.690 8.1.2, RFC 5280 appendix A).
package enum DERTag {
    static let boolean: UInt8 = 0x01
    package static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    package static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    /// A context-specific, primitive identifier, `[n] IMPLICIT` of a primitive type.
    static func context(_ number: UInt8) -> UInt8 { 0x80 | number }
    /// A context-specific, constructed identifier, `[n] EXPLICIT` or `[n] IMPLICIT` of a constructed type.
    package static func contextConstructed(_ number: UInt8) -> UInt8 { 0xA0 | number }
}

/// Why bytes are not the expected DER, and where the problem is.
package struct DERError: Error, Equatable {
    package enum Code: Equatable {
        case truncated, longIdentifier, indefiniteLength, lengthTooLarge, lengthNotMinimal, trailingBytes
        case unexpectedTag(expected: UInt8, found: UInt8)
        case invalidValue(String)
    }

    let code: Code
    /// Offset from the start of the array that was read.
    let offset: Int

    package init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }
}

extension DERError: CustomStringConvertible {
    package var description: String {
        let problem =
            switch code {
            case .truncated: "the element ends before its length says"
            case .longIdentifier: "an identifier above 30"
            case .indefiniteLength: "an indefinite length"
            case .lengthTooLarge: "a length of more than four octets"
            case .lengthNotMinimal: "a length that is not in its shortest form"
            case .trailingBytes: "bytes after the last element"
            case .unexpectedTag(let expected, let found):
                "identifier 0x\(Hexadecimal.encode([found])) where 0x\(Hexadecimal.encode([expected])) is due"
            case .invalidValue(let what): what
            }
        return "\(problem) at offset \(offset)"
    }
}

/// The value of a long length (X.690 8.1.3.5), in any integer type: four bytes do not fit a 32-bit `Int`.
enum DERLength {
    /// - Returns: nil for a length that the integer cannot hold.
    static func value<Integer: FixedWidthInteger>(
        of octets: ArraySlice<UInt8>, as: Integer.Type = Integer.self
    ) -> Integer? {
        var value: Integer = 0
        for octet in octets {
            guard let octet = Integer(exactly: octet) else { return nil }
            let (shifted, isTooLarge) = value.multipliedReportingOverflow(by: 256)
            guard !isTooLarge else { return nil }
            value = shifted | octet
        }
        return value
    }
}
