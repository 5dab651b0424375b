/// A ``GeneralName`` in place in the DER, for rules: a hostile certificate may hold thousands, and a rule copies none.
enum GeneralNameSlice: Sendable, Equatable {
    case rfc822Name(ArraySlice<UInt8>)
    case dNSName(ArraySlice<UInt8>)
    case directoryName(DistinguishedName)
    case uniformResourceIdentifier(ArraySlice<UInt8>)
    /// 4 or 16 bytes in a certificate; 8 or 32 in a name constraint, address and mask.
    case iPAddress(ArraySlice<UInt8>)
    /// otherName 0, x400Address 3, ediPartyName 5, registeredID 8, with their undecoded content bytes.
    case other(UInt8, ArraySlice<UInt8>)

    /// The maximum number of names in one extension: large hosts serve about a thousand names from one certificate.
    static let maximumCount = 4_096

    /// The kind; constraints apply only to names of the same kind.
    var form: UInt8 {
        switch self {
        case .rfc822Name: 1
        case .dNSName: 2
        case .directoryName: 4
        case .uniformResourceIdentifier: 6
        case .iPAddress: 7
        case .other(let number, _): number
        }
    }

    /// Reads `GeneralNames`, the value of subjectAltName.
    static func readAll(_ value: Range<Int>, of bytes: [UInt8]) throws(DERError) -> [GeneralNameSlice] {
        var list = try DERReader(sequence: bytes, in: value)
        guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list of names"), at: value.lowerBound) }
        var names: [GeneralNameSlice] = []
        names.reserveCapacity(4)
        while !list.isAtEnd {
            guard names.count < maximumCount else {
                throw DERError(.invalidValue("more than \(maximumCount) names"), at: list.position)
            }
            names.append(try GeneralNameSlice(try list.next(), of: bytes, addressSizes: [4, 16]))
        }
        return names
    }

    init(_ element: DERReader.Element, of bytes: [UInt8], addressSizes: [Int]) throws(DERError) {
        let content = bytes[element.content]
        switch element.tag {
        case DERTag.context(1): self = .rfc822Name(try Self.ia5(content))
        case DERTag.context(2): self = .dNSName(try Self.ia5(content))
        case DERTag.contextConstructed(4):
            let name = try DERReader.only(DERTag.sequence, of: bytes, in: element.content)
            self = .directoryName(DistinguishedName(der: bytes[name.encoded]))
        case DERTag.context(6): self = .uniformResourceIdentifier(try Self.ia5(content))
        case DERTag.context(7):
            guard addressSizes.contains(content.count) else {
                throw DERError(.invalidValue("an iPAddress of \(content.count) octets"), at: element.encoded.lowerBound)
            }
            self = .iPAddress(content)
        case DERTag.contextConstructed(0), DERTag.contextConstructed(3), DERTag.contextConstructed(5),
            DERTag.context(8):
            self = .other(element.tag & 0x1F, content)
        default:
            throw DERError(.invalidValue("a general name of an unknown kind"), at: element.encoded.lowerBound)
        }
    }

    /// The name as text for people; see ``GeneralName/description``.
    var text: String { GeneralName(self).description }

    private static func ia5(_ content: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        guard content.allSatisfy({ $0 < 0x80 }) else {
            throw DERError(.invalidValue("an IA5String beyond ASCII"), at: content.startIndex)
        }
        return content
    }
}
