/// Only a CA's certificate may constrain names (RFC 5280 4.2.1.10).
struct LeafNameConstraintsRule: PathRule {
    let name = "nameConstraints of the leaf"
    let reference = "RFC 5280 4.2.1.10"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard certificate.value(of: .nameConstraints) != nil else { return nil }
        do throws(DERError) {
            if try certificate.basicConstraints?.isCertificateAuthority == true { return nil }
        } catch {
            return Violation(error, in: "basicConstraints", of: certificate)
        }
        return Violation(.malformedExtension, certificate) {
            ("nameConstraints in the certificate of a CA only", "nameConstraints in that of an end entity")
        }
    }
}
