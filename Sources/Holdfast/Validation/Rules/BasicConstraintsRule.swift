/// Whoever signs certificates is a CA by its basicConstraints (RFC 5280 4.2.1.9, 6.1.4 (k)).
struct BasicConstraintsRule: PathRule {
    let name = "basicConstraints"
    let reference = "RFC 5280 4.2.1.9"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            guard let constraints = try certificate.basicConstraints else {
                return Violation(.notACertificateAuthority, certificate) {
                    ("basicConstraints with cA TRUE", "none in \(certificate.subject)")
                }
            }
            guard constraints.isCertificateAuthority else {
                return Violation(.notACertificateAuthority, certificate) {
                    ("basicConstraints with cA TRUE", "cA FALSE in \(certificate.subject)")
                }
            }
            return nil
        } catch {
            return Violation(error, in: "basicConstraints", of: certificate)
        }
    }
}
