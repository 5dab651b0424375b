public import struct Foundation.Date

/// How one rule came out for one certificate: for people who ask what was checked, such as the users of a command.
///
/// Decisions are never made from it. A value; safe to use from any thread.
public struct RuleOutcome: Sendable {
    /// The rule's name, for example `validity`.
    public let rule: String
    /// Where the rule comes from, for example `RFC 5280 4.1.2.5`.
    public let reference: String
    /// The certificate that was examined.
    public let certificate: X509Certificate
    /// Why the rule is broken; nil where it is kept.
    public let failure: TrustFailure?
}

extension PathValidator {
    /// Examines the path that validation finds, or where it finds none the certificates that come nearest to one: each
    /// rule for each certificate, leaf first, also those after the first that is broken.
    ///
    /// It does the work of about two validations.
    /// - Parameters:
    ///   - chain: what was presented, leaf first.
    ///   - purpose: what the path must be good for.
    ///   - time: the time of the examination.
    /// - Returns: one outcome for each rule and certificate; empty where the leaf cannot be read or too much was presented.
    public func outcomes(of chain: PresentedChain, for purpose: ValidationPurpose, at time: Date) -> [RuleOutcome] {
        guard sizeViolation(of: chain) == nil,
            let leaf = chain.certificates.first.flatMap({ try? X509Certificate(der: $0) })
        else { return [] }
        let valid = validate(chain, for: purpose, at: time) { _ in true }.path
        let path = valid?.certificates ?? nearestPath(from: leaf, in: chain)
        let rules = PathRules.rules(of: profile)
        var context = context(for: purpose, at: Self.wholeSeconds(time))
        var outcomes: [RuleOutcome] = []
        var intermediates = 0
        for (place, certificate) in path.enumerated() {
            func add(_ rule: String, _ reference: String, _ violation: Violation?) {
                let failure = violation?.failure(host: purpose.host, chain: chain)
                outcomes.append(
                    RuleOutcome(rule: rule, reference: reference, certificate: certificate, failure: failure))
            }
            let isAnchor = anchors.contains(certificate)
            context.isAnchor = isAnchor && place > 0
            for rule in place == 0 ? rules.leaf : rules.issuer {
                add(rule.name, rule.reference, rule.violation(of: certificate, in: context))
            }
            if place == 0, let host = purpose.host {
                add("server identity", "RFC 9525 6", ServerIdentity.violation(of: certificate, for: host))
            }
            if place > 0 {
                let length = PathLengthRule(limits: limits)
                let violation = length.violation(of: certificate, isAnchor: isAnchor, intermediates: intermediates)
                add(PathLengthRule.name, PathLengthRule.reference, violation)
                if !certificate.isSelfIssued { intermediates += 1 }
                if certificate.value(of: .nameConstraints) != nil {
                    let violation = nameConstraintViolation(of: certificate, over: path[..<place])
                    add("names below", "RFC 5280 6.1.4 (g)", violation)
                }
            }
            if isAnchor {
                var comparisons = 0
                let violation = PolicyCheck.violation(
                    of: Array(path[...place]), comparisons: &comparisons, limit: limits.nameConstraintComparisons)
                if let violation {
                    add(PolicyCheck.name, PolicyCheck.reference, violation)
                }
                add("trust anchor", "RFC 5280 6.1.1 (d)", nil)
                break
            }
            guard place + 1 < path.count else {
                let violation = PathSearch.unknownIssuer(of: certificate)
                add("trust anchor", "RFC 5280 6.1.1 (d)", violation)
                break
            }
            let violation =
                SignatureRule.algorithmViolation(of: certificate)
                ?? SignatureRule.violation(of: certificate, by: path[place + 1])
            add(SignatureRule.name, SignatureRule.reference, violation)
        }
        return outcomes
    }

    /// Follows the issuers' names from the leaf, preferring who really signed; at most as far as the limits allow.
    private func nearestPath(from leaf: X509Certificate, in chain: PresentedChain) -> [X509Certificate] {
        let presented = chain.certificates.dropFirst().compactMap { try? X509Certificate(der: $0) }
        var path = [leaf]
        var signatures = 0
        while let last = path.last, !anchors.contains(last), path.count <= limits.intermediates + 1 {
            let named = (anchors.named(last.issuer) + presented.filter { $0.subject == last.issuer })
                .filter { !path.contains($0) }
            let signer = named.first { candidate in
                signatures += 1
                return signatures <= limits.signatures && SignatureRule.violation(of: last, by: candidate) == nil
            }
            guard let next = signer ?? named.first else { break }
            path.append(next)
        }
        return path
    }

    private func nameConstraintViolation(
        of issuer: X509Certificate, over path: ArraySlice<X509Certificate>
    ) -> Violation? {
        do throws(DERError) {
            guard let constraints = try issuer.nameConstraints else { return nil }
            var check = NameConstraintCheck(
                constraints: constraints, limit: limits.nameConstraintComparisons, comparisons: 0)
            for (place, certificate) in path.enumerated() where place == 0 || !certificate.isSelfIssued {
                switch check.check(try NameConstraintCheck.names(of: certificate)) {
                case .allowed: continue
                case .violation(let code, let expected, let found):
                    return Violation(code, certificate) { (expected, found) }
                case .overBudget:
                    return Violation(.budgetExceeded, issuer) { ("constraints within the budget", "more to compare") }
                }
            }
            return nil
        } catch {
            return Violation(error, in: "nameConstraints", of: issuer)
        }
    }
}
