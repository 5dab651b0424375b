/// Every certificate names its issuer (RFC 5280 4.1.2.4).
struct NamedIssuerRule: PathRule {
    let name = "issuer"
    let reference = "RFC 5280 4.1.2.4"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard certificate.issuer.isEmpty else { return nil }
        return Violation(.emptyName, certificate) { ("an issuer with a name", "an empty issuer") }
    }
}
