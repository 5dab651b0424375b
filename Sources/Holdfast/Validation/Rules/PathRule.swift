/// One rule about one certificate at one place of a path: a small value, tested alone, named by its RFC section.
protocol PathRule: Sendable {
    /// A short name for reports, for example `validity`.
    var name: String { get }
    /// Where the rule comes from, for example `RFC 5280 4.1.2.5`.
    var reference: String { get }

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation?
}

/// A rule that reads an extension, which has to read as its syntax says.
protocol ExtensionRule: PathRule {
    /// What cannot be read, in a violation; by default the name of the rule.
    var field: String { get }

    func check(_ certificate: X509Certificate, in context: PathRuleContext) throws(DERError) -> Violation?
}

extension ExtensionRule {
    var field: String { name }

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            return try check(certificate, in: context)
        } catch {
            return Violation(error, in: field, of: certificate)
        }
    }
}

extension PathRule {
    /// A certificate that breaks a rule of the strict profile alone.
    func violation(
        _ certificate: X509Certificate, _ expected: String, _ found: @autoclosure @escaping @Sendable () -> String
    ) -> Violation {
        Violation(.profileViolation, certificate, expected, found())
    }
}

/// What a rule knows besides the certificate. Nothing in it depends on the rest of the path, so each search evaluates a
/// certificate only once per place.
struct PathRuleContext: Sendable {
    /// Seconds since 1970, rounded down: validity is stated in whole seconds.
    let time: Int64
    var isServer: Bool
    /// False only for policies whose pins alone decide about expiry.
    var checksValidity = true
    /// The suffixes under which strangers register names, where a list was given.
    var publicSuffixes: PublicSuffixList?
    /// The content octets of an extendedKeyUsage that is required instead of those of TLS.
    var purpose: [UInt8]?
    /// Whether the certificate at hand is an anchor.
    var isAnchor = false
}

/// The rules of each profile, the cheapest first. They are closed sets.
struct PathRules: Sendable {
    /// For the certificate whose key the handshake proved.
    let leaf: [any PathRule]
    /// For every certificate that signs another, the anchor included.
    let issuer: [any PathRule]

    static func rules(of profile: ValidationProfile) -> PathRules {
        switch profile {
        case .standard: standard
        case .strict: strict
        }
    }

    /// For certificates that are trusted regardless of their contents.
    static let none = PathRules(leaf: [], issuer: [])

    /// For a certificate whose key signs revocation lists, whatever else it is for (RFC 5280 6.3.3 (f)).
    static let listSigner = everyCertificate

    static let standard = PathRules(
        leaf: everyCertificate + [LeafKeyUsageRule(), ExtendedKeyUsageRule(), LeafNameConstraintsRule()],
        issuer: everyCertificate
            + [
                IssuerNameRule(), BasicConstraintsRule(), KeyCertSignRule(), ExtendedKeyUsageRule(),
                NameConstraintsRule(),
            ])

    static let strict = PathRules(
        leaf: standard.leaf + strictEveryCertificate + [AuthorityUsageRule(isLeaf: true), CommonNameRule()],
        issuer: standard.issuer + strictEveryCertificate + [AuthorityUsageRule(isLeaf: false)])

    private static let everyCertificate: [any PathRule] = [
        VersionRule(), ValidityRule(), NamedIssuerRule(), CriticalExtensionsRule(), KeyStrengthRule(),
    ]

    private static let strictEveryCertificate: [any PathRule] = [
        SerialNumberRule(), CriticalityRule(), KeyIdentifierRule(), KeyShapeRule(), NameSyntaxRule(),
        AuthorityInformationAccessRule(), TimeFormRule(),
    ]
}
