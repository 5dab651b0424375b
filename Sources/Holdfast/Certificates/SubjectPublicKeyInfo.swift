/// The public key of a certificate with its algorithm, as the DER in the certificate (RFC 5280 4.1.2.7).
///
/// Key pins hash it (RFC 7469 2.4), and it is found without decoding the rest of the certificate. It is a slice: no
/// byte is copied, and the certificate stays in memory as long as this value does. Two values are equal if their bytes
/// are.
public struct SubjectPublicKeyInfo: Hashable, Sendable {
    /// The DER of the SubjectPublicKeyInfo, with its identifier and length. The indices are those of the certificate
    /// it was found in.
    public let der: ArraySlice<UInt8>

    /// Finds the key in a certificate.
    ///
    /// Neither the key nor anything after it is decoded.
    ///
    /// - Parameter certificateDER: the DER of one certificate, at most 256 KiB.
    /// - Throws: ``CertificateError`` naming the field in which the walk ended.
    public init(certificateDER: [UInt8]) throws(CertificateError) {
        der = certificateDER[try Self.range(inCertificate: certificateDER)]
    }

    /// Takes a key by itself, for example that of a backup key pair.
    ///
    /// - Parameter der: the DER of a SubjectPublicKeyInfo, at most 256 KiB, with nothing after it.
    /// - Throws: ``CertificateError`` unless it is a sequence of an algorithm and a bit string.
    public init(der: [UInt8]) throws(CertificateError) {
        try CertificateLimits.check(der, field: Self.field)
        do throws(DERError) {
            var inner = try DERReader(sequence: der)
            _ = try inner.next(DERTag.sequence)
            _ = try inner.next(DERTag.bitString)
            try inner.finish()
        } catch {
            throw CertificateError(error, in: Self.field)
        }
        self.der = der[...]
    }

    /// The kind of key for messages, for example `P-256`, `RSA 2048` or `Ed448`; a kind that Holdfast does not know is
    /// named by its object identifier.
    public var algorithmName: String {
        let octets = Array(der)
        guard let key = try? CertificatePublicKey(0..<octets.count, of: octets) else { return "an unreadable key" }
        return key.unsupportedName ?? key.kind.description
    }

    /// The range of the SubjectPublicKeyInfo in a certificate.
    ///
    /// Reads the headers of at most nine elements and the content of none.
    static func range(inCertificate der: [UInt8]) throws(CertificateError) -> Range<Int> {
        try CertificateLimits.check(der, field: "certificate")
        var field = "certificate"
        do throws(DERError) {
            var reader = try DERReader(sequence: der)
            field = "tbsCertificate"
            reader = reader.inside(try reader.next(DERTag.sequence))
            field = "version"
            _ = try reader.nextIfPresent(DERTag.contextConstructed(0))
            field = "serialNumber"
            _ = try reader.next(DERTag.integer)
            field = "signature"
            _ = try reader.next(DERTag.sequence)
            field = "issuer"
            _ = try reader.next(DERTag.sequence)
            field = "validity"
            _ = try reader.next(DERTag.sequence)
            field = "subject"
            _ = try reader.next(DERTag.sequence)
            field = Self.field
            return try reader.next(DERTag.sequence).encoded
        } catch {
            throw CertificateError(error, in: field)
        }
    }

    private static let field = "subjectPublicKeyInfo"
}
