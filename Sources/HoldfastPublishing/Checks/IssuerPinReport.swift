import Holdfast

/// Whether pins of issuers accept every certificate that the authority of a host may issue next. Its fields are those
/// of the JSON object.
package struct IssuerPinReport: Sendable, Encodable {
    /// A key to pin as an issuer.
    package struct Missing: Sendable, Encodable {
        package let pin: String
        package let subject: String

        init(_ certificate: X509Certificate) {
            pin = certificate.publicKeyPin.description
            subject = certificate.subject.description
        }
    }

    /// Whether the authority's certificates are known: they were given with --issuers, and the host's certificate is
    /// from one of them.
    package let isKnown: Bool
    /// Whether clients accept every chain of these certificates; false if none are known.
    package let isComplete: Bool
    /// Whether clients would also accept an unannounced intermediate.
    package let isLasting: Bool
    /// The number of the authority's chains that were evaluated.
    package let chains: Int
    /// The subjects of the certificates that would issue a refused server certificate.
    package let refused: [String]
    /// The subjects of authorities that a platform does not trust, regardless of pins.
    package let untrusted: [String]
    /// The keys that close all gaps, and those that also accept unannounced intermediates.
    package let missing: [Missing]
    package let missingToLast: [Missing]

    /// The report on a host; nil if its pins do not depend on issuers.
    /// - Parameter isGiven: whether the authority's certificates were given.
    package init?(_ coverage: IssuerPinCoverage, ofHost index: Int?, isGiven: Bool) {
        let findings = coverage.findings.filter { index == nil || $0.hostIndex == index }
        guard !findings.isEmpty else { return nil }
        let gaps = findings.flatMap(\.gaps)
        isKnown = isGiven && findings.allSatisfy(\.isOfAuthority)
        isComplete = isKnown && gaps.isEmpty && coverage.untrusted.isEmpty
        isLasting = (isComplete || !isGiven) && findings.allSatisfy(\.unannounced.isEmpty)
        chains = findings.map(\.chains).max() ?? 0
        refused = Self.unique(gaps.compactMap(\.issuers.first))
        untrusted = isKnown ? Self.unique(coverage.untrusted.map(\.issuer)) : []
        missing = coverage.missing.map(Missing.init)
        missingToLast = coverage.missingToLast.map(Missing.init)
    }

    private static func unique(_ certificates: [X509Certificate]) -> [String] {
        var seen: Set<[UInt8]> = []
        return certificates.map(\.subject.description).filter { seen.insert(Array($0.utf8)).inserted }
    }

    /// The lines for people; the first is the complete answer.
    /// - Parameter isGiven: whether the authority's certificates were given.
    package func lines(isGiven: Bool) -> [String] {
        var lines: [String] = []
        if isGiven, !isKnown {
            lines.append(
                "Issuer pins: unknown, because the certificate was issued by an authority that is not among --issuers")
        } else if isGiven, isComplete {
            lines.append("Issuer pins: complete for \(chains) chains of the authority")
        } else if isGiven {
            let names = (refused + untrusted.map { "\($0) (not trusted, whatever is pinned)" }).joined(separator: "; ")
            lines.append("Issuer pins: INCOMPLETE: clients would refuse a certificate from \(names)")
            lines += missing.map { "  missing: \($0.pin)  \($0.subject)" }
        }
        if !isLasting {
            lines.append(
                (lines.isEmpty ? "Issuer pins: " : "  ")
                    + "an intermediate that is not announced, or one certificate more in the chain, would be refused")
            let listed = missing.map(\.pin)
            for key in missingToLast where !(isGiven && listed.contains(key.pin)) {
                lines.append("  to last: \(key.pin)  \(key.subject)")
            }
        }
        return lines
    }
}
