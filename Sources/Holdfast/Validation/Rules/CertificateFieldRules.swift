import struct Foundation.Date

extension PathRule {
    /// A certificate has version 3: only this version states whether it is a CA and which names it is for (RFC 5280
    /// 4.1.2.1).
    static let version = PathRule("version", "RFC 5280 4.1.2.1") { certificate, _ in
        let version = certificate.version
        guard version != 3 else { return nil }
        return Violation(.unsupportedVersion, certificate, "version 3", "version \(version)")
    }

    /// A certificate is valid from the first to the last second that it states, both included (RFC 5280 4.1.2.5).
    static let validity = PathRule("validity", "RFC 5280 4.1.2.5") { certificate, context in
        guard context.checksValidity else { return nil }
        let time = context.time
        let layout = certificate.layout
        if time < layout.notBefore {
            return Violation(
                .notYetValid, certificate, "notBefore at or before \(Self.text(time))",
                "notBefore \(Self.text(layout.notBefore)) of \(certificate.subject)")
        }
        if time >= layout.end {
            return Violation(
                .expired, certificate, "notAfter at or after \(Self.text(time))",
                "notAfter \(Self.text(layout.end - 1)) of \(certificate.subject)")
        }
        return nil
    }

    private static func text(_ seconds: Int64) -> String { Date(wholeSeconds: seconds).formatted(.iso8601) }

    /// A CA has a name (RFC 5280 4.1.2.6); otherwise every certificate with an empty issuer could claim it.
    static let issuerName = PathRule("subject of a CA", "RFC 5280 4.1.2.6") { certificate, _ in
        guard certificate.subject.isEmpty else { return nil }
        return Violation(.emptyName, certificate, "a CA with a name", "an empty subject")
    }

    /// Every certificate names its issuer (RFC 5280 4.1.2.4).
    static let namedIssuer = PathRule("issuer", "RFC 5280 4.1.2.4") { certificate, _ in
        guard certificate.issuer.isEmpty else { return nil }
        return Violation(.emptyName, certificate, "an issuer with a name", "an empty issuer")
    }

    /// A critical extension that is not processed ends validation (RFC 5280 4.2).
    ///
    /// ``PolicyCheck`` handles policies and their constraints if an authority requires one; an extension that cannot be
    /// read cannot be processed either.
    static let criticalExtensions = reading("critical extensions", "RFC 5280 4.2", field: "certificate policies") {
        (certificate, _) throws(DERError) in
        let layout = certificate.layout
        for one in layout.extensions where one.isCritical {
            switch one.known {
            case nil:
                if try ApplicationPolicies.areUnderstood(one, of: certificate) { continue }
                return Violation(
                    .unknownCriticalExtension, certificate, "critical extensions that are understood",
                    ObjectIdentifier.text(layout.der[one.identifier]))
            case .certificatePolicies, .policyMappings, .policyConstraints, .inhibitAnyPolicy:
                // RFC 5280 4.2.1.4: the qualifiers of a critical extension must be understood too.
                guard let unknown = try PolicyExtensions(of: certificate).unknownQualifier else { continue }
                return Violation(
                    .unknownCriticalExtension, certificate, "policy qualifiers that are understood",
                    "the qualifier \(ObjectIdentifier.text(unknown.octets)) in critical certificatePolicies")
            default:
                continue
            }
        }
        return nil
    }
}
