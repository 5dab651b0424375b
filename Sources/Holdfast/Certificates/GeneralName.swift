/// GeneralName, RFC 5280 4.2.1.6: the forms that identity and name constraints look at, the others by their number.
enum GeneralName: Sendable, Equatable {
    case rfc822Name(ArraySlice<UInt8>)
    case dNSName(ArraySlice<UInt8>)
    case directoryName(DistinguishedName)
    case uniformResourceIdentifier(ArraySlice<UInt8>)
    /// In a certificate 4 or 16 octets; in a name constraint 8 or 32, address and mask.
    case iPAddress(ArraySlice<UInt8>)
    /// otherName 0, x400Address 3, ediPartyName 5, registeredID 8.
    case other(UInt8)

    /// The most names that one extension may hold: large hosts serve about a thousand names from one certificate.
    static let maximumCount = 4_096

    /// The kind, equal for names that constrain each other.
    var form: UInt8 {
        switch self {
        case .rfc822Name: 1
        case .dNSName: 2
        case .directoryName: 4
        case .uniformResourceIdentifier: 6
        case .iPAddress: 7
        case .other(let number): number
        }
    }

    /// Reads `GeneralNames`, the value of subjectAltName.
    static func readAll(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) -> [GeneralName] {
        var outer = DERReader(bytes, in: value)
        var list = outer.inside(try outer.next(DERTag.sequence))
        try outer.finish()
        guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list of names"), at: value.lowerBound) }
        var names: [GeneralName] = []
        names.reserveCapacity(4)
        while !list.isAtEnd {
            guard names.count < maximumCount else {
                throw DERError(.invalidValue("more than \(maximumCount) names"), at: list.position)
            }
            names.append(try GeneralName(try list.next(), of: bytes, addressSizes: [4, 16]))
        }
        return names
    }

    init(_ element: DERReader.Element, of bytes: [UInt8], addressSizes: [Int]) throws(DERError) {
        let content = bytes[element.content]
        switch element.tag {
        case DERTag.context(1): self = .rfc822Name(try Self.ia5(content))
        case DERTag.context(2): self = .dNSName(try Self.ia5(content))
        case DERTag.contextConstructed(4):
            var inside = DERReader(bytes, in: element.content)
            let name = try inside.next(DERTag.sequence)
            try inside.finish()
            self = .directoryName(DistinguishedName(der: bytes[name.encoded]))
        case DERTag.context(6): self = .uniformResourceIdentifier(try Self.ia5(content))
        case DERTag.context(7):
            guard addressSizes.contains(content.count) else {
                throw DERError(.invalidValue("an iPAddress of \(content.count) octets"), at: element.encoded.lowerBound)
            }
            self = .iPAddress(content)
        case DERTag.contextConstructed(0), DERTag.contextConstructed(3), DERTag.contextConstructed(5),
            DERTag.context(8):
            self = .other(element.tag & 0x1F)
        default:
            throw DERError(.invalidValue("a general name of an unknown kind"), at: element.encoded.lowerBound)
        }
    }

    /// The name as text for people, for example `DNS:www.example.com`; never compared.
    var text: String {
        switch self {
        case .rfc822Name(let octets): "email:" + Self.printable(octets)
        case .dNSName(let octets): "DNS:" + Self.printable(octets)
        case .directoryName(let name): "dirName:\(name)"
        case .uniformResourceIdentifier(let octets): "URI:" + Self.printable(octets)
        case .iPAddress(let octets): "IP:" + Self.addressText(octets)
        case .other(let number): "[\(number)]"
        }
    }

    private static func ia5(_ content: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        guard content.allSatisfy({ $0 < 0x80 }) else {
            throw DERError(.invalidValue("an IA5String beyond ASCII"), at: content.startIndex)
        }
        return content
    }

    /// No DNS name is longer (RFC 1035 2.3.4); what is, is not worth more of a line.
    private static let maximumPrintedOctets = 253

    private static func printable(_ octets: ArraySlice<UInt8>) -> String {
        let shown = octets.prefix(maximumPrintedOctets)
        // What is no octet of UTF-8 is decoded as the replacement character.
        let text = String(decoding: shown.map { (0x20..<0x7F).contains($0) ? $0 : 0xFF }, as: UTF8.self)
        return shown.count < octets.count ? text + "…" : text
    }

    private static func addressText(_ octets: ArraySlice<UInt8>) -> String {
        if octets.count == 4 { return octets.map { String($0) }.joined(separator: ".") }
        let bytes = Array(octets)
        return stride(from: 0, to: bytes.count - 1, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}
