/// A critical extension that is not processed ends validation (RFC 5280 4.2).
///
/// certificatePolicies counts as processed: the user-initial-policy-set is any-policy and nothing here requires an
/// explicit policy, so every policy is acceptable (RFC 5280 6.1.1). policyMappings, policyConstraints and
/// inhibitAnyPolicy can require one, are not processed, and are refused where critical.
struct CriticalExtensionsRule: PathRule {
    let name = "critical extensions"
    let reference = "RFC 5280 4.2"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let layout = certificate.layout
        guard let unknown = layout.extensions.first(where: { $0.isCritical && $0.known == nil }) else { return nil }
        return Violation(.unknownCriticalExtension, certificate) {
            ("critical extensions that are understood", ObjectIdentifier.text(layout.der[unknown.identifier]))
        }
    }
}
