/// One rule about one certificate at one position of a path: a small value, tested alone, named by its RFC section.
struct PathRule: Sendable {
    /// A short name for reports, for example `validity`.
    let name: String
    /// The source of the rule, for example `RFC 5280 4.1.2.5`.
    let reference: String
    private let check: @Sendable (X509Certificate, PathRuleContext) -> Violation?

    init(
        _ name: String, _ reference: String,
        _ check: @escaping @Sendable (X509Certificate, PathRuleContext) -> Violation?
    ) {
        (self.name, self.reference, self.check) = (name, reference, check)
    }

    /// A rule that reads an extension, which must match its syntax.
    /// - Parameter field: the name of the unreadable field in a violation; nil for the name of the rule.
    static func reading(
        _ name: String, _ reference: String, field: String? = nil,
        _ check: @escaping @Sendable (X509Certificate, PathRuleContext) throws(DERError) -> Violation?
    ) -> PathRule {
        PathRule(name, reference) { certificate, context in
            do throws(DERError) {
                return try check(certificate, context)
            } catch {
                return Violation(error, in: field ?? name, of: certificate)
            }
        }
    }

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        check(certificate, context)
    }
}

extension Violation {
    /// The violation of a certificate that breaks a rule of the strict profile only.
    static func profile(
        _ certificate: X509Certificate, _ expected: String, _ found: @autoclosure @escaping @Sendable () -> String
    ) -> Violation {
        Violation(.profileViolation, certificate, expected, found())
    }
}

/// The input of a rule in addition to the certificate. Nothing in it depends on the rest of the path, so each search
/// evaluates a certificate only once per position.
struct PathRuleContext: Sendable {
    /// Seconds since 1970, rounded down: validity is stated in whole seconds.
    let time: Int64
    var isServer: Bool
    /// False only for policies whose pins alone decide about expiry.
    var checksValidity = true
    /// The suffixes under which strangers register names, if a list was given.
    var publicSuffixes: PublicSuffixList?
    /// The content bytes of an extendedKeyUsage that is required instead of those of TLS.
    var purpose: [UInt8]?
    /// Whether the certificate at hand is an anchor.
    var isAnchor = false
}

/// The rules of each profile, the cheapest first. They are closed sets.
struct PathRules: Sendable {
    /// The rules for the certificate whose key the handshake proved.
    let leaf: [PathRule]
    /// The rules for every certificate that signs another, the anchor included.
    let issuer: [PathRule]

    static func rules(of profile: ValidationProfile) -> PathRules {
        switch profile {
        case .standard: standard
        case .strict: strict
        }
    }

    /// No rules, for certificates that are trusted regardless of their contents.
    static let none = PathRules(leaf: [], issuer: [])

    /// The rules for a certificate whose key signs revocation lists, whatever else it is for (RFC 5280 6.3.3 (f)).
    static let listSigner = everyCertificate

    static let standard = PathRules(
        leaf: everyCertificate + [.leafKeyUsage, .extendedKeyUsage, .leafNameConstraints],
        issuer: everyCertificate
            + [
                .issuerName, .basicConstraints, .keyCertSign, .extendedKeyUsage,
                .nameConstraints,
            ])

    static let strict = PathRules(
        leaf: standard.leaf + strictEveryCertificate + [.authorityUsage(isLeaf: true), .commonName],
        issuer: standard.issuer + strictEveryCertificate + [.authorityUsage(isLeaf: false)])

    private static let everyCertificate: [PathRule] = [
        .version, .validity, .namedIssuer, .criticalExtensions, .keyStrength,
    ]

    private static let strictEveryCertificate: [PathRule] = [
        .serialNumber, .criticality, .keyIdentifier, .keyShape, .nameSyntax,
        .authorityInformationAccess, .timeForm,
    ]
}
