package import Holdfast

/// A certification request (PKCS #10, RFC 2986). Only the key and the names of the requested certificate are read: the
/// key of a backup pin often exists as a request long before its certificate.
package struct CertificateRequest: Sendable {
    /// The subject of the requested certificate.
    package let subject: DistinguishedName
    /// The dNSName entries of the requested subjectAltName, as they are written; empty if the request has none or they
    /// cannot be read. They are a hint: an authority may issue for other names.
    package let dnsNames: [String]
    /// The key of the requested certificate.
    package let subjectPublicKeyInfo: SubjectPublicKeyInfo
    /// Whether the request is signed with its own key.
    package let signatureCheck: SignatureCheck

    /// Reads a request.
    /// - Parameter der: DER, exactly one request.
    /// - Throws: ``CertificateError`` naming the field that cannot be read.
    package init(der: [UInt8]) throws(CertificateError) {
        try CertificateLimits.check(der, field: "certificationRequest")
        var field = "certificationRequest"
        do throws(DERError) {
            var request = try DERReader(sequence: der)
            field = "certificationRequestInfo"
            let info = try request.next(DERTag.sequence)
            var fields = request.inside(info)
            field = "version"
            _ = try fields.next(DERTag.integer)
            field = "subject"
            subject = DistinguishedName(der: der[try fields.next(DERTag.sequence).encoded])
            field = "subjectPKInfo"
            let keyInfo = try fields.next(DERTag.sequence).encoded
            let key = try CertificatePublicKey(keyInfo, of: der)
            field = "attributes"
            // RFC 2986 requires them, but some tools leave them out.
            let attributes = try fields.nextIfPresent(DERTag.contextConstructed(0))
            dnsNames = (try? attributes.map { try Self.dnsNames(in: fields.inside($0), of: der) }) ?? []
            try fields.finish()
            field = "signatureAlgorithm"
            let algorithm = try CertificateSignatureAlgorithm(try request.next(DERTag.sequence).content, of: der)
            field = "signature"
            let signature = try request.nextBits(of: "a signature")
            try request.finish()
            signatureCheck = key.check(der[signature], over: der[info.encoded], with: algorithm)
            field = "subjectPKInfo"
            subjectPublicKeyInfo = try Self.standingAlone(der[keyInfo])
        } catch {
            throw CertificateError(error, in: field)
        }
    }

    /// The same maximum as for the names of a certificate.
    private static let maximumNames = 4_096

    /// Tags that are used only for names: tags of DER, and the other kinds of GeneralName (RFC 5280 4.2.1.6).
    private enum Tag {
        static let boolean: UInt8 = 0x01
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let set: UInt8 = 0x31
        static let dNSName: UInt8 = 0x82
        static let otherNames: [UInt8] = [0xA0, 0x81, 0xA3, 0xA4, 0xA5, 0x86, 0x87, 0x88]
    }

    /// The attribute extensionRequest (1.2.840.113549.1.9.14, RFC 2985 5.4.2).
    private static let extensionRequest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x0E]
    /// The extension subjectAltName (2.5.29.17).
    private static let subjectAltName: [UInt8] = [0x55, 0x1D, 0x11]

    private static func dnsNames(in attributes: DERReader, of der: [UInt8]) throws(DERError) -> [String] {
        var attributes = attributes
        var names: [String] = []
        while let attribute = try attributes.nextIfPresent(DERTag.sequence) {
            var fields = attributes.inside(attribute)
            let kind = try fields.next(Tag.objectIdentifier)
            guard der[kind.content].elementsEqual(extensionRequest) else { continue }
            var values = fields.inside(try fields.next(Tag.set))
            var extensions = values.inside(try values.next(DERTag.sequence))
            while let element = try extensions.nextIfPresent(DERTag.sequence) {
                var parts = extensions.inside(element)
                let name = try parts.next(Tag.objectIdentifier)
                guard der[name.content].elementsEqual(subjectAltName) else { continue }
                _ = try parts.nextIfPresent(Tag.boolean)
                let value = try parts.next(Tag.octetString)
                try addNames(from: try DERReader(sequence: der, in: value.content), of: der, to: &names)
            }
        }
        return names
    }

    private static func addNames(
        from list: DERReader, of der: [UInt8], to names: inout [String]
    ) throws(DERError) {
        var list = list
        while names.count < maximumNames {
            if let name = try list.nextIfPresent(Tag.dNSName) {
                names.append(String(decoding: der[name.content], as: UTF8.self))
                continue
            }
            var isOther = false
            for tag in Tag.otherNames where !isOther { isOther = try list.nextIfPresent(tag) != nil }
            guard isOther else { return }
        }
    }

    private static func standingAlone(_ der: ArraySlice<UInt8>) throws(DERError) -> SubjectPublicKeyInfo {
        do throws(CertificateError) {
            return try SubjectPublicKeyInfo(der: Array(der))
        } catch {
            throw DERError(.invalidValue(error.found), at: der.startIndex)
        }
    }
}
