/// An X.501 Name as it is in a certificate (RFC 5280 4.1.2.4): DER, decoded on demand.
///
/// Equality compares bytes. Validation compares names as RFC 5280 section 7.1 requires.
public struct DistinguishedName: Sendable, Hashable {
    /// DER of the Name, its SEQUENCE included.
    package let der: ArraySlice<UInt8>

    package init(der: ArraySlice<UInt8>) { self.der = der }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(octets: der) }

    /// Whether it has no attributes.
    package var isEmpty: Bool { der.count <= 2 }

    /// Whether two names are the same by RFC 5280 section 7.1: attribute by attribute, ignoring case and runs of
    /// spaces. It folds both; to compare one name with many, fold each of them once.
    package func matches(_ other: DistinguishedName) -> Bool {
        if der == other.der { return true }
        guard let mine = folded, let theirs = other.folded else { return false }
        return mine == theirs
    }

    /// An attribute in place: the content bytes of its type's identifier, the identifier byte and content of its value.
    /// A name can hold thousands, of which few are needed.
    struct Attribute {
        let type: ArraySlice<UInt8>
        let tag: UInt8
        let value: ArraySlice<UInt8>

        static func text(tag: UInt8, value: [UInt8]) -> String? {
            switch tag {
            case 0x0C, 0x12, 0x13, 0x16, 0x1A:  // UTF8, Numeric, Printable, IA5, VisibleString
                return String(strictUTF8: value)
            case 0x14:  // TeletexString, in certificates Latin-1
                return String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
            case 0x1E where value.count % 2 == 0:  // BMPString
                let units = stride(from: 0, to: value.count, by: 2).map {
                    UInt16(value[$0]) << 8 | UInt16(value[$0 + 1])
                }
                return String(strictUTF16: units)
            case 0x1C where value.count % 4 == 0:  // UniversalString
                var scalars = String.UnicodeScalarView()
                for start in stride(from: 0, to: value.count, by: 4) {
                    let number = value[start..<start + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
                    guard let scalar = Unicode.Scalar(number) else { return nil }
                    scalars.append(scalar)
                }
                return String(scalars)
            default:
                return nil
            }
        }
    }

    /// Calls the closure for each attribute with the number of its relative name, and with nil for an empty relative
    /// name, until it returns false.
    /// - Returns: whether the DER is a Name as far as it was read.
    @discardableResult
    func forEachAttribute(_ body: (Attribute?, _ relativeName: Int) -> Bool) -> Bool {
        do throws(DERError) {
            let bytes = Array(der)
            var list = try DERReader(sequence: bytes)
            var name = 0
            while !list.isAtEnd {
                var set = list.inside(try list.next(DERTag.set))
                if set.isAtEnd, !body(nil, name) { return true }
                while !set.isAtEnd {
                    var pair = set.inside(try set.next(DERTag.sequence))
                    let type = try pair.next(DERTag.objectIdentifier).content
                    let value = try pair.next()
                    try pair.finish()
                    let attribute = Attribute(type: bytes[type], tag: value.tag, value: bytes[value.content])
                    guard body(attribute, name) else { return true }
                }
                name += 1
            }
            return true
        } catch {
            return false
        }
    }
}

extension DistinguishedName: CustomStringConvertible {
    /// The name as RFC 4514 writes it but in the order of the certificate, for example `C=US, O=Example, CN=Root`.
    public var description: String {
        guard !isEmpty else { return "(empty name)" }
        var text = ""
        var (length, previous, inSet) = (0, -1, 0)
        var isWhole = true
        let isName = forEachAttribute { attribute, name in
            inSet = name == previous ? inSet + 1 : 0
            guard name < Self.maximumPrintedNames, length <= Self.maximumPrintedScalars else {
                isWhole = false
                return false
            }
            guard inSet < Self.maximumPrintedNames else { return true }
            if previous >= 0 { text += name == previous ? "+" : ", " }
            previous = name
            guard let attribute else { return true }
            let value = Attribute.text(tag: attribute.tag, value: Array(attribute.value)).map(Self.escaped)
            let printed = "\(Self.shortName(attribute.type))=\(value ?? "#…")"
            text += printed
            length += printed.unicodeScalars.count
            return true
        }
        guard isName else { return "(unreadable name)" }
        guard !isWhole || length > Self.maximumPrintedScalars else { return text }
        return String(text.unicodeScalars.prefix(Self.maximumPrintedScalars)) + "…"
    }

    /// The common name, exactly as written: it may contain anything, even control characters, so print ``description``
    /// instead, and compare its bytes (`utf8.elementsEqual`), because Unicode considers different texts equal. It
    /// never identifies a server (RFC 9525 section 2).
    ///
    /// nil if the name has no common name or more than one, if the text is uncertain (a broken encoding, or a string
    /// type that does not define characters beyond ASCII), or if it is longer than 256 bytes: RFC 5280 allows 64
    /// characters.
    public var commonName: String? {
        let all = commonNameAttributes
        guard let only = all.first, all.count == 1, only.value.count <= Self.maximumCommonNameOctets else { return nil }
        let isUTF8 = only.tag == 0x0C
        guard isUTF8 || !Attribute.isASCIISuperset(only.tag) || only.value.allSatisfy({ $0 < 0x80 }) else { return nil }
        return Attribute.text(tag: only.tag, value: Array(only.value))
    }

    /// The last common name, not yet decoded as text.
    var lastCommonNameAttribute: Attribute? { commonNameAttributes.last }

    private var commonNameAttributes: [Attribute] {
        var found: [Attribute] = []
        let isName = forEachAttribute { attribute, _ in
            if let attribute, attribute.type.elementsEqual(Self.commonNameType) { found.append(attribute) }
            return true
        }
        return isName ? found : []
    }

    /// 64 characters (RFC 5280 appendix A.1) at four bytes each.
    private static let maximumCommonNameOctets = 256

    /// 2.5.4.3
    private static let commonNameType: [UInt8] = [0x55, 0x04, 0x03]

    /// A report about a hostile chain may contain many names; those of authorities have at most 300 characters.
    private static let maximumPrintedScalars = 1_024
    private static let maximumPrintedNames = 32

    /// Anyone can put control characters into a name; they must not reach a terminal or a log line.
    private static func escaped(_ text: String) -> String {
        var result = ""
        let scalars = text.unicodeScalars
        for scalar in scalars.prefix(maximumPrintedScalars) {
            switch scalar {
            case ",", "+", "=", "\"", "\\", "<", ">", ";": result += "\\\(scalar)"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                default: result.unicodeScalars.append(scalar)
                }
            }
        }
        return scalars.count > maximumPrintedScalars ? result + "…" : result
    }

    private static func shortName(_ type: ArraySlice<UInt8>) -> String {
        if type.count == 3, type.starts(with: [0x55, 0x04]) {
            switch type.last {
            case 3: return "CN"
            case 5: return "serialNumber"
            case 6: return "C"
            case 7: return "L"
            case 8: return "ST"
            case 10: return "O"
            case 11: return "OU"
            default: break
            }
        }
        let text = ObjectIdentifier.text(type)
        switch text {
        case "0.9.2342.19200300.100.1.25": return "DC"
        case "1.2.840.113549.1.9.1": return "emailAddress"
        default: return text
        }
    }
}
