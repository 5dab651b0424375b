/// The signed attributes of a signer (RFC 5652 5.3, 11). If present, they are signed instead of the content, and they
/// contain its type and digest.
struct CMSSignedAttributes {
    /// Maximum number of attributes of one signer. openssl writes four or five.
    static let maximum = 32

    private let bytes: [UInt8]
    /// The element `[0] IMPLICIT SET OF`.
    private let element: DERReader.Element
    /// The content bytes of each attribute's identifier, and the range of its values.
    private let values: [ArraySlice<UInt8>: Range<Int>]

    init(_ element: DERReader.Element, of bytes: [UInt8]) throws {
        self.bytes = bytes
        self.element = element
        var list = DERReader(bytes, in: element.content)
        var values: [ArraySlice<UInt8>: Range<Int>] = [:]
        var previous: ArraySlice<UInt8> = []
        guard !list.isAtEnd else { throw Self.malformed("at least contentType and messageDigest", "none") }
        while !list.isAtEnd {
            let attribute = try list.next(DERTag.sequence)
            let encoded = bytes[attribute.encoded]
            // X.690 11.6: the signature covers the DER of the set, so a set in another order has other bytes.
            guard previous.lexicographicallyPrecedes(encoded) else {
                throw Self.malformed("attributes in the order of DER (X.690 11.6)", "another order")
            }
            previous = encoded
            var fields = list.inside(attribute)
            let identifier = bytes[try fields.next(DERTag.objectIdentifier).content]
            let set = try fields.next(DERTag.set)
            try fields.finish()
            guard values.updateValue(set.content, forKey: identifier) == nil else {
                throw Self.malformed("each attribute once", "\(ObjectIdentifier.text(identifier)) twice")
            }
            guard values.count <= Self.maximum else { throw Self.malformed("at most \(Self.maximum)", "more") }
        }
        self.values = values
    }

    /// The bytes that the signature covers: the DER of the attributes as a SET OF (RFC 5652 5.4).
    var signedBytes: [UInt8] { [DERTag.set] + bytes[element.encoded].dropFirst() }

    /// Compares the attributes with the message.
    func check(
        contentType: ArraySlice<UInt8>, contentDigest: [UInt8], digestAlgorithm: Range<Int>,
        signatureAlgorithm: Range<Int>
    ) throws {
        guard let stated = try single(Self.contentType, DERTag.objectIdentifier, "contentType") else {
            throw Self.malformed("the attribute contentType", "none")
        }
        guard bytes[stated.content] == contentType else {
            throw DocumentError(
                .malformedMessage, field: "contentType", expected: ObjectIdentifier.text(contentType),
                found: ObjectIdentifier.text(bytes[stated.content]))
        }
        guard let digest = try single(Self.messageDigest, DERTag.octetString, "messageDigest") else {
            throw Self.malformed("the attribute messageDigest", "none")
        }
        guard bytes[digest.content].elementsEqual(contentDigest) else {
            throw DocumentError(
                .invalidSignature, field: "messageDigest", expected: "the digest of the content", found: "another")
        }
        if let time = try single(Self.signingTime, nil, "signingTime") {
            _ = try ASN1Time.read(time, of: bytes)
        }
        try checkAlgorithmProtection(digestAlgorithm: digestAlgorithm, signatureAlgorithm: signatureAlgorithm)
    }

    /// RFC 6211: if the signer stated the algorithms and the message has others, an attacker has replaced them.
    private func checkAlgorithmProtection(digestAlgorithm: Range<Int>, signatureAlgorithm: Range<Int>) throws {
        guard let protection = try single(Self.algorithmProtection, DERTag.sequence, "CMSAlgorithmProtection") else {
            return
        }
        var fields = DERReader(bytes, in: protection.content)
        let digest = try fields.next(DERTag.sequence).content
        let signature = try fields.next(DERTag.contextConstructed(1)).content
        try fields.finish()
        guard bytes[digest] == bytes[digestAlgorithm], bytes[signature] == bytes[signatureAlgorithm] else {
            throw Self.malformed("the algorithms that CMSAlgorithmProtection names (RFC 6211)", "others")
        }
    }

    /// The single value of an attribute; nil if the attribute is missing.
    private func single(_ identifier: [UInt8], _ tag: UInt8?, _ name: String) throws -> DERReader.Element? {
        guard let range = values[identifier[...]] else { return nil }
        var reader = DERReader(bytes, in: range)
        guard !reader.isAtEnd else { throw Self.malformed("one value of \(name)", "none") }
        let value: DERReader.Element
        if let tag { value = try reader.next(tag) } else { value = try reader.next() }
        guard reader.isAtEnd else { throw Self.malformed("one value of \(name)", "more") }
        return value
    }

    private static func malformed(_ expected: String, _ found: String) -> DocumentError {
        DocumentError(.malformedMessage, field: "signedAttrs", expected: expected, found: found)
    }

    /// 1.2.840.113549.1.9.3
    private static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    /// 1.2.840.113549.1.9.4
    private static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
    /// 1.2.840.113549.1.9.5
    private static let signingTime: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x05]
    /// 1.2.840.113549.1.9.52
    private static let algorithmProtection: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x34]
}
