package import struct Foundation.Date

/// The result of one rule for one certificate, for reports about a validation.
///
/// Decisions are never made from it.
package struct RuleOutcome: Sendable {
    /// The rule's name, for example `validity`.
    package let rule: String
    /// The source of the rule, for example `RFC 5280 4.1.2.5`.
    package let reference: String
    /// The certificate that was examined.
    package let certificate: X509Certificate
    /// The reason why the rule is broken; nil if it is satisfied.
    package let failure: TrustFailure?
}

extension PathValidator {
    /// Examines the path that validation finds, or else the certificates that come closest to one: each rule for each
    /// certificate, leaf first, even after a rule is broken. The rules are those of the validation, applied by the same
    /// search, including revocation if it is checked.
    /// - Returns: one outcome for each rule and certificate; empty if the leaf cannot be read or too much was
    ///   presented.
    package func outcomes(of chain: PresentedChain, for purpose: ValidationPurpose, at time: Date) -> [RuleOutcome] {
        var trace: [RuleOutcome]? = []
        var query = Query(chain: chain, purpose: purpose, time: time.wholeSeconds)
        query.transparency = demand(for: purpose)
        _ = search(query, trace: &trace) { _ in true }
        return trace ?? []
    }
}
