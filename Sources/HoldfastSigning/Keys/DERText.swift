import SwiftASN1

/// Builds DER from the inside out; each piece is one encoded element.
enum DERText {
    static func sequence(_ parts: [[UInt8]]) -> [UInt8] { constructed(.sequence, parts) }

    /// SET OF, with its elements in the order that DER requires (X.690 11.6).
    static func set(_ parts: [[UInt8]]) -> [UInt8] {
        constructed(.set, parts.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// A context-specific tag: EXPLICIT around an element, or IMPLICIT around the content of a constructed one.
    static func context(_ number: UInt, _ parts: [[UInt8]]) -> [UInt8] {
        constructed(ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific), parts)
    }

    static func octetString(_ octets: [UInt8]) -> [UInt8] { primitive(.octetString, octets) }

    /// BIT STRING of whole bytes.
    static func bitString(_ octets: [UInt8]) -> [UInt8] { primitive(.bitString, [0] + octets) }

    /// INTEGER with these content bytes.
    static func integer(_ octets: [UInt8]) -> [UInt8] { primitive(.integer, octets) }

    static func utf8String(_ text: String) -> [UInt8] { primitive(.utf8String, Array(text.utf8)) }

    static let null = primitive(.null, [])

    static func objectIdentifier(_ identifier: ASN1ObjectIdentifier) -> [UInt8] {
        var serializer = DER.Serializer()
        // An identifier can always be encoded; it throws only because the protocol requires it.
        try? serializer.serialize(identifier)
        return serializer.serializedBytes
    }

    static func primitive(_ identifier: ASN1Identifier, _ content: [UInt8]) -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendPrimitiveNode(identifier: identifier) { $0 += content }
        return serializer.serializedBytes
    }

    private static func constructed(_ identifier: ASN1Identifier, _ parts: [[UInt8]]) -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: identifier) { for part in parts { $0.serializeRawBytes(part) } }
        return serializer.serializedBytes
    }
}
