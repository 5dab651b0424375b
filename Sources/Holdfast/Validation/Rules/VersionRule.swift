/// Only version 3 says who is a CA and whom a certificate is for (RFC 5280 4.1.2.1).
struct VersionRule: PathRule {
    let name = "version"
    let reference = "RFC 5280 4.1.2.1"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let version = certificate.version
        guard version != 3 else { return nil }
        return Violation(.unsupportedVersion, certificate) { ("version 3", "version \(version)") }
    }
}
