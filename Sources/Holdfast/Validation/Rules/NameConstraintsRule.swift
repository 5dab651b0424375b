/// Name constraints can be read (RFC 5280 4.2.1.10): one that cannot would otherwise constrain nothing. Whether names
/// keep them depends on the path and is ``NameConstraintCheck``'s to say.
struct NameConstraintsRule: PathRule {
    let name = "nameConstraints"
    let reference = "RFC 5280 4.2.1.10"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            _ = try certificate.nameConstraints
            return nil
        } catch {
            return Violation(error, in: "nameConstraints", of: certificate)
        }
    }
}
