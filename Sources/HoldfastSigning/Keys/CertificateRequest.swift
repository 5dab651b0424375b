package import Holdfast

/// A certification request (PKCS #10, RFC 2986), read as far as the key that it asks a certificate for: the key of a
/// backup pin often exists as a request long before there is a certificate.
package struct CertificateRequest: Sendable {
    /// Whose certificate it is to be.
    package let subject: DistinguishedName
    /// The key that the certificate will hold.
    package let subjectPublicKeyInfo: SubjectPublicKeyInfo
    /// Whether the request is signed with the key that it is for; nil where the algorithm is not one that is verified.
    package let isSignedWithItsKey: Bool?

    /// Reads a request.
    /// - Parameter der: DER, one request and nothing behind it.
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
            _ = try fields.nextIfPresent(DERTag.contextConstructed(0))
            try fields.finish()
            field = "signatureAlgorithm"
            let algorithm = try CertificateSignatureAlgorithm(try request.next(DERTag.sequence).content, of: der)
            field = "signature"
            let signature = try request.nextBits(of: "a signature")
            try request.finish()
            isSignedWithItsKey = key.verifies(der[signature], over: der[info.encoded], with: algorithm)
            field = "subjectPKInfo"
            subjectPublicKeyInfo = try Self.standingAlone(der[keyInfo])
        } catch {
            throw CertificateError(error, in: field)
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
