/// Converts a CMS message to DER, which the rest of the reader expects.
///
/// CMS allows BER (RFC 5652 1), and a signer that streams writes it: indefinite lengths, and octet strings in pieces.
/// The conversion makes lengths definite and as short as possible, and octet strings whole; it does not change the
/// bytes of values, and does not change DER at all. A definite length may take a byte or two more than an indefinite
/// one, so the result is hardly longer than its input; depth and number of elements are bounded.
struct CMSEncoding {
    /// The maximum nesting. openssl writes at most eleven levels, for an S/MIME capability with parameters.
    static let depth = 16
    /// The maximum number of elements. A streaming openssl writes pieces of at least 4 KiB, so 8 MiB have about 2,000.
    static let elements = 1 << 16

    /// OCTET STRING in pieces (X.690 8.7.3).
    private static let octetStringInPieces: UInt8 = 0x24

    private let bytes: [UInt8]
    private var position = 0
    private var count = 0
    private var output: [UInt8] = []

    /// The one element that `bytes` hold, in DER.
    /// - Throws: ``DERError``, at offsets of `bytes`.
    static func der(of bytes: [UInt8]) throws(DERError) -> [UInt8] {
        var encoding = CMSEncoding(bytes)
        try encoding.copyElement(before: bytes.count, depth: 0)
        guard encoding.position == bytes.count else { throw DERError(.trailingBytes, at: encoding.position) }
        return encoding.output
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        output.reserveCapacity(bytes.count)
    }

    private struct Header {
        let tag: UInt8
        /// The length of the content; nil if it is indefinite.
        let length: Int?
        let start: Int

        var isConstructed: Bool { tag & 0x20 != 0 }
    }

    private mutating func header(before end: Int) throws(DERError) -> Header {
        let start = position
        count += 1
        guard count <= Self.elements else {
            throw DERError(.invalidValue("more than \(Self.elements) elements"), at: start)
        }
        guard end - start >= 2 else { throw DERError(.truncated, at: start) }
        let tag = bytes[start]
        guard tag & 0x1F != 0x1F else { throw DERError(.longIdentifier, at: start) }
        guard tag != 0 else { throw DERError(.invalidValue("an end of contents where none is due"), at: start) }
        let first = bytes[start + 1]
        position = start + 2
        guard first >= 0x80 else { return Header(tag: tag, length: Int(first), start: start) }
        let octets = Int(first & 0x7F)
        guard octets > 0 else {
            // Only a constructed element may have an indefinite length (X.690 8.1.3.2 (a)).
            guard tag & 0x20 != 0 else { throw DERError(.indefiniteLength, at: start) }
            return Header(tag: tag, length: nil, start: start)
        }
        guard octets <= 4 else { throw DERError(.lengthTooLarge, at: start) }
        guard end - position >= octets else { throw DERError(.truncated, at: start) }
        guard let length: Int = DERLength.value(of: bytes[position..<position + octets]) else {
            throw DERError(.lengthTooLarge, at: start)
        }
        position += octets
        return Header(tag: tag, length: length, start: start)
    }

    private mutating func copyElement(before end: Int, depth: Int) throws(DERError) {
        let header = try header(before: end)
        guard header.isConstructed else {
            let content = try content(of: header, before: end)
            output.append(header.tag)
            output += DEREncoding.length(content.count)
            output += bytes[content]
            return
        }
        let start = output.count
        if header.tag == Self.octetStringInPieces {
            try copyPieces(of: header, before: end, depth: depth)
        } else {
            try forEachElement(in: header, before: end, depth: depth) { (this, inner) throws(DERError) in
                try this.copyElement(before: inner, depth: depth + 1)
            }
        }
        let length = output.count - start
        let tag = header.tag == Self.octetStringInPieces ? DERTag.octetString : header.tag
        output.insert(contentsOf: [tag] + DEREncoding.length(length), at: start)
    }

    private mutating func copyPieces(of header: Header, before end: Int, depth: Int) throws(DERError) {
        try forEachElement(in: header, before: end, depth: depth) { (this, inner) throws(DERError) in
            let piece = try this.header(before: inner)
            switch piece.tag {
            case DERTag.octetString: this.output += this.bytes[try this.content(of: piece, before: inner)]
            case Self.octetStringInPieces: try this.copyPieces(of: piece, before: inner, depth: depth + 1)
            default:
                throw DERError(.unexpectedTag(expected: DERTag.octetString, found: piece.tag), at: piece.start)
            }
        }
    }

    private mutating func content(of header: Header, before end: Int) throws(DERError) -> Range<Int> {
        guard let length = header.length, end - position >= length else { throw DERError(.truncated, at: header.start) }
        defer { position += length }
        return position..<position + length
    }

    private mutating func forEachElement(
        in header: Header, before end: Int, depth: Int,
        _ body: (inout CMSEncoding, _ end: Int) throws(DERError) -> Void
    ) throws(DERError) {
        guard depth < Self.depth else {
            throw DERError(.invalidValue("more than \(Self.depth) levels"), at: header.start)
        }
        guard let length = header.length else {
            while true {
                guard end - position >= 2 else { throw DERError(.truncated, at: position) }
                if bytes[position] == 0, bytes[position + 1] == 0 { break }
                try body(&self, end)
            }
            position += 2
            return
        }
        guard end - position >= length else { throw DERError(.truncated, at: header.start) }
        let inner = position + length
        while position < inner { try body(&self, inner) }
    }
}
