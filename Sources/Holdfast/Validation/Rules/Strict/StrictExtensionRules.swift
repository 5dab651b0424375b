extension PathRule {
    /// authorityInfoAccess has its syntax (RFC 5280 4.2.2.1). It is only checked: nothing is fetched.
    static let authorityInformationAccess = reading("authorityInfoAccess", "RFC 5280 4.2.2.1") {
        (certificate, _) throws(DERError) in
        let layout = certificate.layout
        for one in layout.extensions where layout.der[one.identifier].elementsEqual(Self.identifier) {
            var list = try DERReader(sequence: layout.der, in: one.value)
            guard !list.isAtEnd else { throw DERError(.invalidValue("an empty list"), at: list.position) }
            while !list.isAtEnd {
                var description = list.inside(try list.next(DERTag.sequence))
                _ = try description.next(DERTag.objectIdentifier)
                _ = try GeneralNameSlice(try description.next(), of: layout.der, addressSizes: [4, 16])
                try description.finish()
            }
        }
        return nil
    }

    /// 1.3.6.1.5.5.7.1.1
    private static let identifier: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01]

    /// cA and keyCertSign go together (RFC 5280 4.2.1.3, 4.2.1.9), a leaf does not allow every purpose (CA/B BR
    /// 7.1.2.7.10), and a root does not limit its purposes (7.1.2.1.2).
    static func authorityUsage(isLeaf: Bool) -> PathRule {
        reading("usage", "RFC 5280 4.2.1.9, CA/B BR 7.1.2", field: "basicConstraints") {
            (certificate, context) throws(DERError) in
            let isAuthority = try certificate.basicConstraints?.isCertificateAuthority ?? false
            if let usage = try? certificate.keyUsage, usage.contains(.keyCertSign) != isAuthority {
                return isAuthority
                    ? .profile(certificate, "keyCertSign in a CA's keyUsage", "none")
                    : .profile(
                        certificate, "keyCertSign in a CA's keyUsage only", "keyCertSign in that of an end entity")
            }
            guard let usage = try? certificate.extendedKeyUsage else { return nil }
            if isLeaf, usage.allowsAny {
                return .profile(certificate, "an extendedKeyUsage that names its purposes", "anyExtendedKeyUsage")
            }
            if context.isAnchor, certificate.isSelfIssued, !isLeaf {
                return .profile(certificate, "a root without extendedKeyUsage", "one with it")
            }
            return nil
        }
    }

    /// Extensions are critical where RFC 5280 section 4.2 and the web PKI's profile require it, and not critical where
    /// they forbid it. Name constraints may be either: RFC 5280 requires them to be critical, the web PKI leaves it
    /// open (CA/B BR 7.1.2.5.2).
    static let criticality = PathRule("criticality", "RFC 5280 4.2") { certificate, _ in
        let layout = certificate.layout
        for one in layout.extensions {
            switch one.known {
            // RFC 5280 4.2.1.6, CA/B BR 7.1.2.7.12
            case .subjectAltName where one.isCritical != certificate.subject.isEmpty:
                return certificate.subject.isEmpty
                    ? .profile(
                        certificate, "a critical subjectAltName beside an empty subject", "one that is not critical")
                    : .profile(certificate, "a subjectAltName that is not critical beside a subject", "a critical one")
            // RFC 5280 4.2.1.9
            case .basicConstraints where !one.isCritical:
                guard (try? certificate.basicConstraints)?.isCertificateAuthority == true else { continue }
                return .profile(certificate, "critical basicConstraints in a CA's certificate", "others")
            // CA/B BR 7.1.2.7.10
            case .extendedKeyUsage where one.isCritical:
                return .profile(certificate, "an extendedKeyUsage that is not critical", "a critical one")
            // RFC 5280 4.2.1.11, 4.2.1.14
            case .policyConstraints where !one.isCritical:
                return .profile(certificate, "critical policyConstraints", "policyConstraints that are not critical")
            case .inhibitAnyPolicy where !one.isCritical:
                return .profile(certificate, "a critical inhibitAnyPolicy", "one that is not critical")
            default:
                continue
            }
        }
        return nil
    }

    /// Key identifiers help to find paths: authorityKeyIdentifier with a keyIdentifier in all but self-signed
    /// certificates (RFC 5280 4.2.1.1), subjectKeyIdentifier in those of CAs (4.2.1.2), neither critical. In roots the
    /// former, if present, is the keyIdentifier of the root itself and nothing else (CA/B BR 7.1.2.1.3).
    static let keyIdentifier = PathRule("key identifiers", "RFC 5280 4.2.1.1, 4.2.1.2") { certificate, context in
        for one in certificate.layout.extensions where one.isCritical {
            guard one.known == .authorityKeyIdentifier || one.known == .subjectKeyIdentifier else { continue }
            return .profile(certificate, "key identifiers that are not critical", "a critical one")
        }
        let hasAuthority = certificate.value(of: .authorityKeyIdentifier) != nil
        let authority = certificate.authorityKeyIdentifier
        let subject = certificate.subjectKeyIdentifier
        // An anchor is known, so its issuer need not be found.
        if !context.isAnchor, !certificate.isSelfIssued, authority == nil {
            return .profile(certificate, "an authorityKeyIdentifier with a keyIdentifier", "none")
        }
        if (try? certificate.basicConstraints)?.isCertificateAuthority == true, subject == nil {
            return .profile(certificate, "a subjectKeyIdentifier in a CA's certificate", "none")
        }
        guard context.isAnchor, certificate.isSelfIssued, hasAuthority else { return nil }
        guard certificate.hasBareAuthorityKeyIdentifier else {
            return .profile(certificate, "a root's authorityKeyIdentifier with a keyIdentifier alone", "another form")
        }
        guard authority == subject else {
            return .profile(certificate, "a root's authorityKeyIdentifier equal to its subjectKeyIdentifier", "another")
        }
        return nil
    }
}

extension X509Certificate {
    /// Whether authorityKeyIdentifier has only a keyIdentifier, not authorityCertIssuer or authorityCertSerialNumber.
    fileprivate var hasBareAuthorityKeyIdentifier: Bool {
        guard let value = value(of: .authorityKeyIdentifier) else { return false }
        var reader = DERReader(layout.der, in: value)
        guard let sequence = try? reader.next(DERTag.sequence) else { return false }
        var fields = reader.inside(sequence)
        return (try? fields.next(DERTag.context(0))) != nil && fields.isAtEnd
    }
}
