import Foundation

/// An X.501 Name as it stands in a certificate (RFC 5280 4.1.2.4): DER, readable on demand.
///
/// Equality is of the octets; ``matches(_:)`` compares as RFC 5280 section 7.1 asks. A value; safe from any thread.
public struct DistinguishedName: Sendable, Hashable {
    /// DER of the Name, its SEQUENCE included.
    public let der: ArraySlice<UInt8>

    init(der: ArraySlice<UInt8>) {
        self.der = der
    }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(octets: der) }

    /// Whether it has no attribute at all.
    public var isEmpty: Bool { der.count <= 2 }

    /// Whether two names are the same by RFC 5280 section 7.1: attribute by attribute, case and runs of spaces aside.
    public func matches(_ other: DistinguishedName) -> Bool {
        if der == other.der { return true }
        guard let mine = comparableOctets, let theirs = other.comparableOctets else { return false }
        return mine == theirs
    }

    /// Whether this name lies in the subtree of `base`: its first relative names are all of those of `base`.
    func isWithin(_ base: DistinguishedName) -> Bool? {
        guard let mine = comparable, let theirs = base.comparable else { return nil }
        return mine.starts(with: theirs)
    }

    /// An attribute: the content octets of its type's identifier, the identifier octet and content of its value.
    struct Attribute: Hashable {
        let type: [UInt8]
        let tag: UInt8
        let value: [UInt8]

        /// The same attribute in a form that compares by RFC 5280 section 7.1.
        var normalized: Attribute {
            guard let text = Self.text(tag: tag, value: value) else { return self }
            var mapped = String.UnicodeScalarView()
            for scalar in text.unicodeScalars where !Self.isMappedToNothing(scalar) { mapped.append(scalar) }
            let folded = String(mapped).precomposedStringWithCompatibilityMapping.lowercased()
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return Attribute(type: type, tag: 0x0C, value: Array(folded.utf8))
        }

        /// What stringprep leaves out of a comparison (RFC 4518 2.2): soft hyphens, what has no width, controls that are
        /// no spaces, variation selectors.
        private static func isMappedToNothing(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0x20..<0x7F, 0x09...0x0D, 0x85: return false
            case 0x34F, 0x1806, 0x180B...0x180D, 0xFE00...0xFE0F, 0xFFFC: return true
            default: break
            }
            let category = scalar.properties.generalCategory
            return category == .control || category == .format
        }

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

    /// The relative names in order, each a set of attributes; nil if the DER is no Name.
    var relativeNames: [[Attribute]]? {
        do throws(DERError) {
            let bytes = Array(der)
            var outer = DERReader(bytes)
            var list = outer.inside(try outer.next(DERTag.sequence))
            try outer.finish()
            var names: [[Attribute]] = []
            while !list.isAtEnd {
                var set = list.inside(try list.next(DERTag.set))
                var attributes: [Attribute] = []
                while !set.isAtEnd {
                    var pair = set.inside(try set.next(DERTag.sequence))
                    let type = try pair.next(DERTag.objectIdentifier).content
                    let value = try pair.next()
                    try pair.finish()
                    attributes.append(
                        Attribute(type: Array(bytes[type]), tag: value.tag, value: Array(bytes[value.content])))
                }
                names.append(attributes)
            }
            return names
        } catch {
            return nil
        }
    }

    private var comparable: [Set<Attribute>]? {
        guard der.count <= Self.maximumComparableBytes else { return nil }
        return relativeNames?.map { Set($0.map(\.normalized)) }
    }

    /// Longer names than any authority's are compared octet by octet only: folding their text is work.
    static let maximumComparableBytes = 1_024

    /// Octets that are equal for names that are the same by RFC 5280 section 7.1; nil for a name that cannot be read.
    var comparableOctets: [UInt8]? {
        guard der.count <= Self.maximumComparableBytes, let names = relativeNames else { return nil }
        var octets: [UInt8] = []
        func add(_ count: Int) { octets += [UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] }
        for name in names {
            // Counts and lengths, since a value may hold any octet that could stand between two.
            let attributes = name.map(\.normalized).map { Array(encoding: [$0.type, [$0.tag], $0.value]) }
            add(attributes.count)
            for attribute in attributes.sorted(by: { $0.lexicographicallyPrecedes($1) }) { octets += attribute }
        }
        return octets
    }
}

extension DistinguishedName: CustomStringConvertible {
    /// The name as RFC 4514 writes it but in the order of the certificate, for example `C=US, O=Example, CN=Root`.
    public var description: String {
        guard let names = relativeNames else { return "(unreadable name)" }
        guard !names.isEmpty else { return "(empty name)" }
        let text = names.prefix(Self.maximumPrintedNames).map { set in
            set.prefix(Self.maximumPrintedNames).map { attribute in
                let value = Attribute.text(tag: attribute.tag, value: attribute.value).map(Self.escaped)
                return "\(Self.shortName(attribute.type))=\(value ?? "#…")"
            }.joined(separator: "+")
        }.joined(separator: ", ")
        let isWhole = names.count <= Self.maximumPrintedNames && text.unicodeScalars.count <= Self.maximumPrintedScalars
        return isWhole ? text : String(text.unicodeScalars.prefix(Self.maximumPrintedScalars)) + "…"
    }

    /// The value of the last common name, for printing only: it identifies nobody (RFC 9525 section 2). Escaped and
    /// shortened like the description.
    public var commonName: String? { lastCommonName.map(Self.escaped) }

    /// The value of the last common name as it stands there.
    var lastCommonName: String? {
        let attributes = (relativeNames ?? []).joined()
        return attributes.last { $0.type == [0x55, 0x04, 0x03] }
            .flatMap { Attribute.text(tag: $0.tag, value: $0.value) }
    }

    /// A report of a hostile chain holds many names; authorities' names have at most 300 characters.
    private static let maximumPrintedScalars = 1_024
    private static let maximumPrintedNames = 32

    /// Names come from whoever made the certificate: control characters must not reach a terminal or a log line.
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

    private static func shortName(_ type: [UInt8]) -> String {
        if type.count == 3, type[0] == 0x55, type[1] == 0x04 {
            switch type[2] {
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
        let text = ObjectIdentifier.text(type[...])
        switch text {
        case "0.9.2342.19200300.100.1.25": return "DC"
        case "1.2.840.113549.1.9.1": return "emailAddress"
        default: return text
        }
    }
}

extension Array where Element == UInt8 {
    /// Each part behind its length.
    fileprivate init(encoding parts: [[UInt8]]) {
        self = []
        for part in parts {
            // Two octets do: longer names are not compared.
            append(UInt8(part.count >> 8 & 0xFF))
            append(UInt8(part.count & 0xFF))
            append(contentsOf: part)
        }
    }
}
