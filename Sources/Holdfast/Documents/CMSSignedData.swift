/// A CMS SignedData (RFC 5652 5) with its content attached and one signer: parsed and checked for consistency, but not
/// yet verified with a key.
///
/// The reader is narrow: it refuses everything that a trust server does not write, because the format's freedoms help
/// attackers. It refuses content of a type other than data, detached content, no or several signers, signers named by a
/// key identifier (which, unlike issuer and serial number, need not be unique), revocation lists, unsigned attributes,
/// and certificates of other formats.
package struct CMSSignedData {
    /// Maximum number of certificates in one message; a path has fewer.
    static let certificates = 16

    package let bytes: [UInt8]
    package let content: Range<Int>
    /// Embedded certificates. They are not signed, so they are only candidates and prove nothing.
    package let certificates: [X509Certificate]
    /// The Name of the signer's issuer, DER.
    let signerIssuer: ArraySlice<UInt8>
    /// The content bytes of the signer's serial number.
    let signerSerialNumber: ArraySlice<UInt8>

    private let signatureAlgorithm: CMSSignature
    let signature: Range<Int>
    /// The signed attributes; nil if the content itself is signed.
    private let attributes: CMSSignedAttributes?

    /// Reads a message in BER or DER.
    package init(_ message: [UInt8], allowsLegacyDigests: Bool) throws(DocumentError) {
        try Self.refuseText(message)
        do {
            try self.init(der: try CMSEncoding.der(of: message), allowsLegacyDigests: allowsLegacyDigests)
        } catch let error as DocumentError {
            throw error
        } catch {
            throw DocumentError(
                .malformedMessage, expected: "a CMS SignedData (RFC 5652)",
                found: "other octets: \(ForeignErrorText.found(error))")
        }
    }

    private init(der: [UInt8], allowsLegacyDigests: Bool) throws {
        bytes = der
        var contentInfo = try DERReader(sequence: der)
        try Self.expect(Self.signedData, try contentInfo.next(DERTag.objectIdentifier), of: der, "contentType")
        let explicit = try contentInfo.next(DERTag.contextConstructed(0)).content
        try contentInfo.finish()
        var fields = try DERReader(sequence: der, in: explicit)

        // Checked later: other features raise the version, and their errors are clearer.
        let version = try fields.next(DERTag.integer)
        var digests = fields.inside(try fields.next(DERTag.set))
        let announced = try Self.only(&digests, "digestAlgorithms").content
        let announcedDigest = try CMSDigest(announced, of: der, allowsLegacy: allowsLegacyDigests)

        var encapsulated = fields.inside(try fields.next(DERTag.sequence))
        let contentType = try encapsulated.next(DERTag.objectIdentifier)
        try Self.expect(Self.data, contentType, of: der, "eContentType")
        guard let wrapped = try encapsulated.nextIfPresent(DERTag.contextConstructed(0)) else {
            throw DocumentError(
                .unsupportedMessage, field: "eContent", expected: "the content attached", found: "none",
                remedy: "Sign with -nodetach.")
        }
        try encapsulated.finish()
        content = try DERReader.only(DERTag.octetString, of: der, in: wrapped.content).content

        certificates = try Self.certificates(try fields.nextIfPresent(DERTag.contextConstructed(0)), of: der)
        guard fields.nextTag != DERTag.contextConstructed(1) else { throw Self.unsupported("crls", "none", "some") }
        var signers = fields.inside(try fields.next(DERTag.set))
        try fields.finish()
        var signer = signers.inside(try Self.only(&signers, "signerInfos"))

        let signerVersion = try signer.next(DERTag.integer)
        guard signer.nextTag != DERTag.context(0) else {
            throw DocumentError(
                .unsupportedMessage, field: "sid", expected: "a signer named by issuer and serial number",
                found: "one named by a key identifier", remedy: "Sign without -keyid.")
        }
        try Self.expectVersion1(version, of: der)
        try Self.expectVersion1(signerVersion, of: der)
        var identifier = signer.inside(try signer.next(DERTag.sequence))
        signerIssuer = der[try identifier.next(DERTag.sequence).encoded]
        signerSerialNumber = der[try identifier.next(DERTag.integer).content]
        try identifier.finish()

        let digestAlgorithm = try signer.next(DERTag.sequence).content
        let digest = try CMSDigest(digestAlgorithm, of: der, allowsLegacy: allowsLegacyDigests)
        guard digest == announcedDigest else {
            throw DocumentError(
                .malformedMessage, field: "digestAlgorithm", expected: announcedDigest.name, found: digest.name)
        }
        let signedAttributes = try signer.nextIfPresent(DERTag.contextConstructed(0))
        let algorithm = try signer.next(DERTag.sequence).content
        signatureAlgorithm = try CMSSignature(algorithm, of: der, digest: digest)
        signature = try signer.next(DERTag.octetString).content
        guard signer.nextTag != DERTag.contextConstructed(1) else {
            throw Self.unsupported("unsignedAttrs", "none", "some")
        }
        try signer.finish()

        guard let signedAttributes else {
            attributes = nil
            return
        }
        let attributes = try CMSSignedAttributes(signedAttributes, of: der)
        try attributes.check(
            contentType: der[contentType.content], contentDigest: digest.hash(der[content]),
            digestAlgorithm: digestAlgorithm, signatureAlgorithm: algorithm)
        self.attributes = attributes
    }

    /// The bytes that the signature covers (RFC 5652 5.4).
    var signedBytes: ArraySlice<UInt8> { attributes.map { $0.signedBytes[...] } ?? bytes[content] }

    /// Throws unless the key signed the content, or the attributes if the message has any.
    package func verify(with key: CertificatePublicKey) throws(DocumentError) {
        switch signatureAlgorithm.verifies(bytes[signature], over: signedBytes, by: key) {
        case true?: return
        case false?:
            throw DocumentError(
                .invalidSignature, field: "signature", expected: "a signature by the signer's key",
                found: "one that does not verify under it")
        case nil:
            if let name = key.unsupportedName {
                throw DocumentError(
                    .unsupportedAlgorithm, field: "public key", expected: "RSA, P-256, P-384 or P-521", found: name)
            }
            throw DocumentError(
                .invalidSignature, field: "signatureAlgorithm", expected: "one for a key of \(key.kind)",
                found: signatureAlgorithm.description)
        }
    }

    /// Whether the message names this certificate as its signer's. This alone proves nothing.
    package func namesSigner(_ certificate: X509Certificate) -> Bool {
        certificate.issuer.der == signerIssuer && certificate.serialNumber == signerSerialNumber
    }

    // MARK: Parts

    /// The fields that begin the head of an S/MIME entity (RFC 8551 3.1), as openssl writes it.
    private static let mailFields = ["mime-version:", "content-type:", "to:", "from:", "subject:"]

    /// Throws for the forms that openssl writes by default, with an error that names the form.
    private static func refuseText(_ message: [UInt8]) throws(DocumentError) {
        let isPEM = message.starts(with: "-----BEGIN ".utf8)
        let isMail = mailFields.contains { field in
            message.count >= field.utf8.count && zip(message, field.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
        guard isPEM || isMail else { return }
        throw DocumentError(
            .unsupportedMessage, expected: "a CMS SignedData in DER (RFC 5652)",
            found: isPEM ? "one in PEM" : "one in S/MIME, which is a mail",
            remedy: "Sign with -outform DER, or convert it: openssl cms -cmsout -inform \(isPEM ? "PEM" : "SMIME") "
                + "-in FILE -outform DER -out FILE.der")
    }

    private static func certificates(_ list: DERReader.Element?, of der: [UInt8]) throws -> [X509Certificate] {
        guard let list else { return [] }
        var reader = DERReader(der, in: list.content)
        var certificates: [X509Certificate] = []
        while !reader.isAtEnd {
            let range = try reader.next(DERTag.sequence).encoded
            guard certificates.count < Self.certificates else {
                throw unsupported("certificates", "at most \(Self.certificates)", "more")
            }
            do throws(CertificateError) {
                certificates.append(try X509Certificate(der: Array(der[range])))
            } catch {
                throw DocumentError(
                    .malformedMessage, field: "certificates", expected: error.expected, found: error.found)
            }
        }
        return certificates
    }

    /// The one element of a set.
    private static func only(_ set: inout DERReader, _ field: String) throws -> DERReader.Element {
        guard !set.isAtEnd else { throw unsupported(field, "one", "none") }
        let element = try set.next(DERTag.sequence)
        guard set.isAtEnd else { throw unsupported(field, "one", "several") }
        return element
    }

    private static func expect(
        _ identifier: [UInt8], _ element: DERReader.Element, of der: [UInt8], _ field: String
    ) throws {
        guard der[element.content].elementsEqual(identifier) else {
            throw unsupported(
                field, ObjectIdentifier.text(identifier[...]), ObjectIdentifier.text(der[element.content]))
        }
    }

    /// RFC 5652 5.1, 5.3: the version is 1 for content of type data and signers named by issuer and serial number.
    private static func expectVersion1(_ element: DERReader.Element, of der: [UInt8]) throws {
        guard der[element.content].elementsEqual([1]) else { throw unsupported("version", "1", "another") }
    }

    private static func unsupported(_ field: String, _ expected: String, _ found: String) -> DocumentError {
        DocumentError(.unsupportedMessage, field: field, expected: expected, found: found)
    }

    /// 1.2.840.113549.1.7.2
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// 1.2.840.113549.1.7.1
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
}
