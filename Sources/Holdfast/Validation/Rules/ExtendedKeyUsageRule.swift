/// An extendedKeyUsage includes the purpose at hand (RFC 5280 4.2.1.12). In an issuer it limits what the certificates
/// below may be for, as the web PKI has it (CA/B BR 7.1.2.10.6); without one there is no limit.
struct ExtendedKeyUsageRule: PathRule {
    let name = "extendedKeyUsage"
    let reference = "RFC 5280 4.2.1.12"

    /// Purposes that a failure names.
    private static let maximumShown = 10

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            guard let usage = try certificate.extendedKeyUsage else { return nil }
            let der = certificate.layout.der
            let isAllowed =
                if let purpose = context.purpose {
                    usage.identifiers.contains { der[$0].elementsEqual(purpose) }
                } else {
                    context.isServer ? usage.allowsServer : usage.allowsClient
                }
            if usage.allowsAny || isAllowed { return nil }
            let expected =
                context.purpose.map { ObjectIdentifier.text($0[...]) }
                ?? (context.isServer ? "serverAuth" : "clientAuth")
            return Violation(.wrongExtendedKeyUsage, certificate) {
                (
                    expected,
                    usage.identifiers.prefix(Self.maximumShown).map { ObjectIdentifier.text(der[$0]) }
                        .joined(separator: ", ") + (usage.identifiers.count > Self.maximumShown ? ", …" : "")
                )
            }
        } catch {
            return Violation(error, in: "extendedKeyUsage", of: certificate)
        }
    }
}
