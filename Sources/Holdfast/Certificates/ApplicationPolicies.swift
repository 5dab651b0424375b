/// The application policies of Microsoft's certificate services (1.3.6.1.4.1.311.21.10). They repeat the purposes of a
/// certificate in the syntax of certificatePolicies.
///
/// Holdfast evaluates extendedKeyUsage, so it understands a critical extension if it states the same purposes.
enum ApplicationPolicies {
    private static let identifier: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x15, 0x0A]

    /// Whether an extension is this one, and lists exactly the purposes of the certificate's extendedKeyUsage.
    static func areUnderstood(
        _ one: CertificateExtension, of certificate: X509Certificate
    ) throws(DERError) -> Bool {
        let der = certificate.layout.der
        guard der[one.identifier].elementsEqual(identifier), let usage = try certificate.extendedKeyUsage else {
            return false
        }
        var list = try DERReader(sequence: der, in: one.value)
        var purposes: Set<OctetString> = []
        while !list.isAtEnd {
            var fields = list.inside(try list.next(DERTag.sequence))
            purposes.insert(OctetString(der[try fields.next(DERTag.objectIdentifier).content]))
            // A qualifier narrows the purpose in a way that extendedKeyUsage does not state.
            guard fields.isAtEnd else { return false }
        }
        return purposes == Set(usage.identifiers.map { OctetString(der[$0]) })
    }
}
