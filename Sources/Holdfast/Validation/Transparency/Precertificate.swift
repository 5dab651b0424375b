/// The content that a log signed for a certificate before the certificate was issued (RFC 6962 3.2, PreCert).
///
/// A precertificate differs from its certificate in the poison extension, which logs leave out, and in the timestamps,
/// which did not exist yet. A separate precertificate signer is ignored too, so the certificate determines everything.
struct Precertificate: Sendable {
    /// SHA-256 of the key of the certificate's issuer.
    let issuerKeyHash: [UInt8]
    /// The DER of the certificate's TBSCertificate without the extension that holds the timestamps.
    let toBeSigned: [UInt8]

    /// - Parameter certificate: a parsed certificate, so that its DER has the form of RFC 5280.
    init(of certificate: X509Certificate, issuedBy issuer: X509Certificate) throws(DERError) {
        issuerKeyHash = SHA256Digest.of(issuer.subjectPublicKeyInfo)
        toBeSigned = try Self.withoutTimestamps(certificate.layout)
    }

    private static func withoutTimestamps(_ layout: X509Certificate.Layout) throws(DERError) -> [UInt8] {
        let bytes = layout.der
        var outer = DERReader(bytes, in: layout.toBeSigned)
        let content = try outer.next(DERTag.sequence).content
        var fields = DERReader(bytes, in: content)
        var head = content.lowerBound..<content.upperBound
        var explicit: DERReader.Element?
        while !fields.isAtEnd {
            let field = try fields.next()
            guard field.tag == DERTag.contextConstructed(3) else { continue }
            head = content.lowerBound..<field.encoded.lowerBound
            explicit = field
        }
        var kept: [UInt8] = []
        if let explicit {
            var whole = DERReader(bytes, in: explicit.content)
            var list = whole.inside(try whole.next(DERTag.sequence))
            while !list.isAtEnd {
                let one = try list.next(DERTag.sequence)
                var inside = list.inside(one)
                let identifier = try inside.next(DERTag.objectIdentifier).content
                if bytes[identifier].elementsEqual(SignedCertificateTimestamp.extensionIdentifier) { continue }
                kept += bytes[one.encoded]
            }
        }
        // An empty list of extensions is left out (RFC 5280 4.1).
        let extensions =
            kept.isEmpty
            ? [] : DEREncoding.element(DERTag.contextConstructed(3), DEREncoding.element(DERTag.sequence, kept))
        return DEREncoding.element(DERTag.sequence, bytes[head] + extensions)
    }
}
