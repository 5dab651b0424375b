/// One rule about one certificate at one place of a path: a small value, tested alone, named by its RFC section.
protocol PathRule: Sendable {
    /// A short name for reports, for example `validity`.
    var name: String { get }
    /// Where the rule comes from, for example `RFC 5280 4.1.2.5`.
    var reference: String { get }

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation?
}

/// What a rule may know besides the certificate. Nothing in it depends on the rest of the path, so a certificate's
/// outcome at a place is worked out once a search.
struct PathRuleContext: Sendable {
    /// Seconds since 1970, rounded down: validity is stated in whole seconds.
    let time: Int64
    let isServer: Bool
    /// False only for policies whose pins alone decide about expiry.
    var checksValidity = true
}

/// The rules of the `.standard` profile, the cheapest first.
enum PathRules {
    /// For the certificate whose key the handshake proved.
    static let leaf: [any PathRule] =
        everyCertificate + [LeafKeyUsageRule(), ExtendedKeyUsageRule(), LeafNameConstraintsRule()]

    /// For every certificate that signs another, the anchor included.
    static let issuer: [any PathRule] =
        everyCertificate
        + [IssuerNameRule(), BasicConstraintsRule(), KeyCertSignRule(), ExtendedKeyUsageRule(), NameConstraintsRule()]

    private static let everyCertificate: [any PathRule] = [
        VersionRule(), ValidityRule(), NamedIssuerRule(), CriticalExtensionsRule(), KeyStrengthRule(),
    ]
}
