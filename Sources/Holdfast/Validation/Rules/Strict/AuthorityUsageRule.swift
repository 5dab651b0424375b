/// cA and keyCertSign go together (RFC 5280 4.2.1.3, 4.2.1.9), a leaf is not for any purpose whatever (CA/B BR
/// 7.1.2.7.10), and a root does not limit its purposes (7.1.2.1.2).
struct AuthorityUsageRule: PathRule {
    let name = "usage"
    let reference = "RFC 5280 4.2.1.9, CA/B BR 7.1.2"

    let isLeaf: Bool

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let isAuthority: Bool
        do throws(DERError) {
            isAuthority = try certificate.basicConstraints?.isCertificateAuthority ?? false
        } catch {
            return Violation(error, in: "basicConstraints", of: certificate)
        }
        if let usage = try? certificate.keyUsage, usage.contains(.keyCertSign) != isAuthority {
            return isAuthority
                ? violation(certificate, "keyCertSign in a CA's keyUsage", "none")
                : violation(certificate, "keyCertSign in a CA's keyUsage only", "keyCertSign in that of an end entity")
        }
        guard let usage = try? certificate.extendedKeyUsage else { return nil }
        if isLeaf, usage.allowsAny {
            return violation(certificate, "an extendedKeyUsage that names its purposes", "anyExtendedKeyUsage")
        }
        if context.isAnchor, certificate.isSelfIssued, !isLeaf {
            return violation(certificate, "a root without extendedKeyUsage", "one with it")
        }
        return nil
    }

    private func violation(_ certificate: X509Certificate, _ expected: String, _ found: String) -> Violation {
        Violation(.profileViolation, certificate) { (expected, found) }
    }
}
