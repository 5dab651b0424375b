/// A CA has a name (RFC 5280 4.1.2.6): without one, whoever names nobody would have been issued by it.
struct IssuerNameRule: PathRule {
    let name = "subject of a CA"
    let reference = "RFC 5280 4.1.2.6"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard certificate.subject.isEmpty else { return nil }
        return Violation(.emptyName, certificate) { ("a CA with a name", "an empty subject") }
    }
}
