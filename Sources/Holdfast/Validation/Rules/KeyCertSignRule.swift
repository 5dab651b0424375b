/// A CA that has a keyUsage has keyCertSign in it (RFC 5280 4.2.1.3, 6.1.4 (n)).
struct KeyCertSignRule: PathRule {
    let name = "keyCertSign"
    let reference = "RFC 5280 4.2.1.3"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            guard let usage = try certificate.keyUsage, !usage.contains(.keyCertSign) else { return nil }
            return Violation(.keyUsageForbidsSigning, certificate) {
                ("keyUsage with keyCertSign", "keyUsage without it in \(certificate.subject)")
            }
        } catch {
            return Violation(error, in: "keyUsage", of: certificate)
        }
    }
}
