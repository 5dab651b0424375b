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
            let folded = text.precomposedStringWithCompatibilityMapping.lowercased()
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return Attribute(type: type, tag: 0x0C, value: Array(folded.utf8))
        }

        static func text(tag: UInt8, value: [UInt8]) -> String? {
            switch tag {
            case 0x0C, 0x12, 0x13, 0x16, 0x1A:  // UTF8, Numeric, Printable, IA5, VisibleString
                return String(validating: value, as: UTF8.self)
            case 0x14:  // TeletexString, in certificates Latin-1
                return String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
            case 0x1E where value.count % 2 == 0:  // BMPString
                let units = stride(from: 0, to: value.count, by: 2).map {
                    UInt16(value[$0]) << 8 | UInt16(value[$0 + 1])
                }
                return String(validating: units, as: UTF16.self)
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
    static let maximumComparableBytes = 4_096

    /// Octets that are equal for names that are the same by RFC 5280 section 7.1; nil for a name that cannot be read.
    var comparableOctets: [UInt8]? {
        guard der.count <= Self.maximumComparableBytes, let names = relativeNames else { return nil }
        var octets: [UInt8] = []
        for name in names {
            let attributes = name.map(\.normalized).map { $0.type + [0xFF, $0.tag] + $0.value }
            for attribute in attributes.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                octets += attribute
                octets.append(0xFE)
            }
            octets.append(0xFD)
        }
        return octets
    }
}

extension DistinguishedName: CustomStringConvertible {
    /// The name as RFC 4514 writes it but in the order of the certificate, for example `C=US, O=Example, CN=Root`.
    public var description: String {
        guard let names = relativeNames else { return "(unreadable name)" }
        guard !names.isEmpty else { return "(empty name)" }
        return names.map { set in
            set.map { attribute in
                let value = Attribute.text(tag: attribute.tag, value: attribute.value).map(Self.escaped)
                return "\(Self.shortName(attribute.type))=\(value ?? "#…")"
            }.joined(separator: "+")
        }.joined(separator: ", ")
    }

    /// The value of the last common name, for printing only: it identifies nobody (RFC 9525 section 2).
    public var commonName: String? {
        let attributes = (relativeNames ?? []).joined()
        return attributes.last { $0.type == [0x55, 0x04, 0x03] }
            .flatMap { Attribute.text(tag: $0.tag, value: $0.value) }
    }

    /// Names come from whoever made the certificate: control characters must not reach a terminal or a log line.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
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
        return result
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
