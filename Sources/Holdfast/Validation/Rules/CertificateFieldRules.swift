import struct Foundation.Date

/// Only version 3 states who is a CA and what names a certificate is for (RFC 5280 4.1.2.1).
struct VersionRule: PathRule {
    let name = "version"
    let reference = "RFC 5280 4.1.2.1"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let version = certificate.version
        guard version != 3 else { return nil }
        return Violation(.unsupportedVersion, certificate, "version 3", "version \(version)")
    }
}

/// A certificate is valid from the first to the last second it names, both included (RFC 5280 4.1.2.5).
struct ValidityRule: PathRule {
    let name = "validity"
    let reference = "RFC 5280 4.1.2.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
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

    private static func text(_ seconds: Int64) -> String {
        Date(wholeSeconds: seconds).formatted(.iso8601)
    }
}

/// A CA has a name (RFC 5280 4.1.2.6); otherwise every certificate with an empty issuer could claim it.
struct IssuerNameRule: PathRule {
    let name = "subject of a CA"
    let reference = "RFC 5280 4.1.2.6"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard certificate.subject.isEmpty else { return nil }
        return Violation(.emptyName, certificate, "a CA with a name", "an empty subject")
    }
}

/// Every certificate names its issuer (RFC 5280 4.1.2.4).
struct NamedIssuerRule: PathRule {
    let name = "issuer"
    let reference = "RFC 5280 4.1.2.4"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard certificate.issuer.isEmpty else { return nil }
        return Violation(.emptyName, certificate, "an issuer with a name", "an empty issuer")
    }
}

/// A critical extension that is not processed ends validation (RFC 5280 4.2).
///
/// Policies and what constrains them are ``PolicyCheck``'s, which looks at them where some authority requires one; what
/// cannot be read cannot be processed either.
struct CriticalExtensionsRule: ExtensionRule {
    let name = "critical extensions"
    let reference = "RFC 5280 4.2"
    let field = "certificate policies"

    func check(_ certificate: X509Certificate, in context: PathRuleContext) throws(DERError) -> Violation? {
        let layout = certificate.layout
        for one in layout.extensions where one.isCritical {
            switch one.known {
            case nil:
                return Violation(
                    .unknownCriticalExtension, certificate, "critical extensions that are understood",
                    ObjectIdentifier.text(layout.der[one.identifier]))
            case .certificatePolicies, .policyMappings, .policyConstraints, .inhibitAnyPolicy:
                _ = try PolicyExtensions(of: certificate)
            default:
                continue
            }
        }
        return nil
    }
}
