/// An end entity whose keyUsage allows neither to sign nor to agree on keys nor to decrypt one is not for TLS (RFC 5280
/// 4.2.1.3, RFC 8446 4.4.2.2). A CA's certificate in the leaf's place is let pass: private authorities serve with theirs,
/// whose keyUsage speaks of what it issues, and no attacker holds its key.
struct LeafKeyUsageRule: PathRule {
    let name = "keyUsage"
    let reference = "RFC 5280 4.2.1.3"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            guard let usage = try certificate.keyUsage else { return nil }
            guard usage.isDisjoint(with: [.digitalSignature, .keyEncipherment, .keyAgreement]) else { return nil }
            if try certificate.basicConstraints?.isCertificateAuthority == true { return nil }
            return Violation(.keyUsageForbidsTLS, certificate) {
                ("keyUsage digitalSignature, keyEncipherment or keyAgreement", "neither")
            }
        } catch {
            return Violation(error, in: "keyUsage", of: certificate)
        }
    }
}
