import SwiftASN1

/// Writes DER (ITU-T X.690), for extensions and names for which this module has no type.
///
/// Each function returns one encoded element. Concatenate elements to make the content of another one. Contents are not
/// checked, because tests of a reader write nonsense too.
public enum TestDER {
    /// An element with this identifier byte and content. Tag numbers must be below 31.
    public static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let tagClass: ASN1Identifier.TagClass =
            switch tag >> 6 {
            case 0: .universal
            case 1: .application
            case 2: .contextSpecific
            default: .private
            }
        let identifier = ASN1Identifier(tagWithNumber: UInt(tag & 0x1F), tagClass: tagClass)
        var serializer = DER.Serializer()
        if tag & 0x20 == 0 {
            serializer.appendPrimitiveNode(identifier: identifier) { $0.append(contentsOf: content) }
        } else {
            serializer.appendConstructedNode(identifier: identifier) { $0.serializeRawBytes(content) }
        }
        return serializer.serializedBytes
    }

    /// SEQUENCE or SEQUENCE OF these elements.
    public static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, elements.flatMap { $0 }) }

    /// SET OF these elements, sorted as DER requires (X.690 11.6).
    public static func set(_ elements: [[UInt8]]) -> [UInt8] {
        element(0x31, elements.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 })
    }

    /// `[number]` EXPLICIT around an element, or `[number]` IMPLICIT around the content of a constructed type.
    public static func context(_ number: UInt8, constructed content: [UInt8]) -> [UInt8] {
        element(0xA0 | number & 0x1F, content)
    }

    /// `[number]` IMPLICIT around the content of a primitive type.
    public static func context(_ number: UInt8, primitive content: [UInt8]) -> [UInt8] {
        element(0x80 | number & 0x1F, content)
    }

    /// BOOLEAN.
    public static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0x00]) }

    /// INTEGER of a number.
    public static func integer(_ value: Int) -> [UInt8] {
        var octets = stride(from: Int.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
        while octets.count > 1, (octets[0] == 0 && octets[1] < 0x80) || (octets[0] == 0xFF && octets[1] >= 0x80) {
            octets.removeFirst()
        }
        return integer(octets: octets)
    }

    /// INTEGER with these content bytes: big-endian, in two's complement, written unchanged.
    public static func integer(octets: [UInt8]) -> [UInt8] { element(0x02, octets) }

    /// BIT STRING of these bytes, without the last `unusedBits` bits.
    public static func bitString(_ octets: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] {
        element(0x03, [unusedBits] + octets)
    }

    /// OCTET STRING.
    public static func octetString(_ octets: [UInt8]) -> [UInt8] { element(0x04, octets) }

    /// NULL.
    public static var null: [UInt8] { element(0x05, []) }

    /// OBJECT IDENTIFIER.
    public static func objectIdentifier(_ identifier: TestObjectIdentifier) -> [UInt8] {
        element(0x06, identifier.contentOctets)
    }

    /// UTF8String.
    public static func utf8String(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    /// PrintableString; the characters are not checked.
    public static func printableString(_ text: String) -> [UInt8] { element(0x13, Array(text.utf8)) }

    /// IA5String; the characters are not checked.
    public static func ia5String(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
}
