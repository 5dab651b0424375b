/// Key identifiers, by which paths are found: authorityKeyIdentifier with a keyIdentifier in all but self-signed
/// certificates (RFC 5280 4.2.1.1), subjectKeyIdentifier in those of CAs (4.2.1.2), neither critical. In roots the
/// former, where it is there, is the keyIdentifier of the root itself and nothing else (CA/B BR 7.1.2.1.3).
struct KeyIdentifierRule: PathRule {
    let name = "key identifiers"
    let reference = "RFC 5280 4.2.1.1, 4.2.1.2"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        for one in certificate.layout.extensions where one.isCritical {
            guard one.known == .authorityKeyIdentifier || one.known == .subjectKeyIdentifier else { continue }
            return violation(certificate, "key identifiers that are not critical", "a critical one")
        }
        let hasAuthority = certificate.value(of: .authorityKeyIdentifier) != nil
        let authority = certificate.authorityKeyIdentifier
        let subject = certificate.subjectKeyIdentifier
        // An anchor is known, so that nothing has to be found by what it says of its issuer.
        if !context.isAnchor, !certificate.isSelfIssued, authority == nil {
            return violation(certificate, "an authorityKeyIdentifier with a keyIdentifier", "none")
        }
        if (try? certificate.basicConstraints)?.isCertificateAuthority == true, subject == nil {
            return violation(certificate, "a subjectKeyIdentifier in a CA's certificate", "none")
        }
        guard context.isAnchor, certificate.isSelfIssued, hasAuthority else { return nil }
        guard certificate.hasBareAuthorityKeyIdentifier else {
            return violation(certificate, "a root's authorityKeyIdentifier with a keyIdentifier alone", "another form")
        }
        guard authority == subject else {
            return violation(
                certificate, "a root's authorityKeyIdentifier equal to its subjectKeyIdentifier", "another")
        }
        return nil
    }

    private func violation(_ certificate: X509Certificate, _ expected: String, _ found: String) -> Violation {
        Violation(.profileViolation, certificate) { (expected, found) }
    }
}

extension X509Certificate {
    /// Whether authorityKeyIdentifier has a keyIdentifier and neither authorityCertIssuer nor authorityCertSerialNumber.
    fileprivate var hasBareAuthorityKeyIdentifier: Bool {
        guard let value = value(of: .authorityKeyIdentifier) else { return false }
        var reader = DERReader(layout.der, in: value)
        guard let sequence = try? reader.next(DERTag.sequence) else { return false }
        var fields = reader.inside(sequence)
        return (try? fields.next(DERTag.context(0))) != nil && fields.isAtEnd
    }
}
