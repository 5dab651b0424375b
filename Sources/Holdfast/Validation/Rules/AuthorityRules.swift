extension PathRule {
    /// An issuer is a CA according to its basicConstraints (RFC 5280 4.2.1.9, 6.1.4 (k)).
    static let basicConstraints = reading("basicConstraints", "RFC 5280 4.2.1.9") { (certificate, _) throws(DERError) in
        let constraints = try certificate.basicConstraints
        guard constraints?.isCertificateAuthority != true else { return nil }
        return Violation(
            .notACertificateAuthority, certificate, "basicConstraints with cA TRUE",
            "\(constraints == nil ? "none" : "cA FALSE") in \(certificate.subject)")
    }
}

/// The maximum number of intermediates of a path: the limit of each CA for those below it (RFC 5280 4.2.1.9, 6.1.4 (l),
/// (m)), and the validator's total limit. Self-issued certificates do not count.
struct PathLengthRule {
    static let name = "path length"
    static let reference = "RFC 5280 6.1.4 (m)"

    let limits: ValidationLimits

    /// - Parameter intermediates: the number of those below `issuer` on the path.
    func violation(of issuer: X509Certificate, isAnchor: Bool, intermediates: Int) -> Violation? {
        if let limit = (try? issuer.basicConstraints)?.pathLength, intermediates > limit {
            return Violation(
                .pathLengthExceeded, issuer, "at most \(limit) intermediates below \(issuer.subject)",
                "\(intermediates)")
        }
        let total = intermediates + (isAnchor || issuer.isSelfIssued ? 0 : 1)
        let most = limits.intermediates
        guard total > most else { return nil }
        return Violation(.pathTooLong, issuer, "at most \(most) intermediates", "\(total)")
    }
}

extension PathRule {
    /// A CA that has a keyUsage has keyCertSign in it (RFC 5280 4.2.1.3, 6.1.4 (n)).
    static let keyCertSign = reading("keyCertSign", "RFC 5280 4.2.1.3", field: "keyUsage") {
        (certificate, _) throws(DERError) in
        guard let usage = try certificate.keyUsage, !usage.contains(.keyCertSign) else { return nil }
        return Violation(
            .keyUsageForbidsSigning, certificate, "keyUsage with keyCertSign",
            "keyUsage without it in \(certificate.subject)")
    }
}
