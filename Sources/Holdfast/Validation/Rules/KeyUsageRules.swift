extension PathRule {
    /// An end entity whose keyUsage allows neither signing nor key agreement nor key encipherment is not for TLS (RFC
    /// 5280 4.2.1.3, RFC 8446 4.4.2.2). A CA's certificate may be the leaf, because some private authorities use their
    /// own certificate on a server. Its keyUsage is for issuing, and no attacker has its key.
    static let leafKeyUsage = reading("keyUsage", "RFC 5280 4.2.1.3") { (certificate, _) throws(DERError) in
        guard let usage = try certificate.keyUsage else { return nil }
        guard usage.isDisjoint(with: [.digitalSignature, .keyEncipherment, .keyAgreement]) else { return nil }
        if try certificate.basicConstraints?.isCertificateAuthority == true { return nil }
        return Violation(
            .keyUsageForbidsTLS, certificate, "keyUsage digitalSignature, keyEncipherment or keyAgreement",
            "neither")
    }

    /// An extendedKeyUsage includes the purpose at hand (RFC 5280 4.2.1.12). In an issuer it limits the purposes of the
    /// certificates below, as in the web PKI (CA/B BR 7.1.2.10.6); without one there is no limit.
    static let extendedKeyUsage = reading("extendedKeyUsage", "RFC 5280 4.2.1.12") {
        (certificate, context) throws(DERError) in
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
            context.purpose.map { ExtendedKeyUsage.name(of: $0[...]) }
            ?? (context.isServer ? "serverAuth" : "clientAuth")
        return Violation(
            .wrongExtendedKeyUsage, certificate, expected,
            usage.identifiers.prefix(Self.maximumShown).map { ExtendedKeyUsage.name(of: der[$0]) }
                .joined(separator: ", ") + (usage.identifiers.count > Self.maximumShown ? ", …" : ""))
    }

    /// The maximum number of purposes in a failure.
    private static let maximumShown = 10
}
