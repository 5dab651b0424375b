/// Extensions are critical where RFC 5280 section 4.2 and the web PKI's profile say so, and not where they forbid it.
/// Name constraints may be either: RFC 5280 has them critical, the web PKI leaves it open (CA/B BR 7.1.2.5.2).
struct CriticalityRule: PathRule {
    let name = "criticality"
    let reference = "RFC 5280 4.2"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let layout = certificate.layout
        for one in layout.extensions {
            switch one.known {
            // RFC 5280 4.2.1.6, CA/B BR 7.1.2.7.12
            case .subjectAltName where one.isCritical != certificate.subject.isEmpty:
                return certificate.subject.isEmpty
                    ? violation(
                        certificate, "a critical subjectAltName beside an empty subject", "one that is not critical")
                    : violation(certificate, "a subjectAltName that is not critical beside a subject", "a critical one")
            // RFC 5280 4.2.1.9
            case .basicConstraints where !one.isCritical:
                guard (try? certificate.basicConstraints)?.isCertificateAuthority == true else { continue }
                return violation(certificate, "critical basicConstraints in a CA's certificate", "others")
            // CA/B BR 7.1.2.7.10
            case .extendedKeyUsage where one.isCritical:
                return violation(certificate, "an extendedKeyUsage that is not critical", "a critical one")
            // RFC 5280 4.2.1.11, 4.2.1.14
            case .policyConstraints where !one.isCritical:
                return violation(certificate, "critical policyConstraints", "policyConstraints that are not critical")
            case .inhibitAnyPolicy where !one.isCritical:
                return violation(certificate, "a critical inhibitAnyPolicy", "one that is not critical")
            default:
                continue
            }
        }
        return nil
    }

    private func violation(_ certificate: X509Certificate, _ expected: String, _ found: String) -> Violation {
        Violation(.profileViolation, certificate) { (expected, found) }
    }
}
