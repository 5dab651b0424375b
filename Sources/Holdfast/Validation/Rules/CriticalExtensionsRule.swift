/// A critical extension that is not processed ends validation (RFC 5280 4.2).
///
/// Policies and what constrains them are ``PolicyCheck``'s, which looks at them where some authority requires one; what
/// cannot be read cannot be processed either.
struct CriticalExtensionsRule: PathRule {
    let name = "critical extensions"
    let reference = "RFC 5280 4.2"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        let layout = certificate.layout
        for one in layout.extensions where one.isCritical {
            switch one.known {
            case nil:
                return Violation(.unknownCriticalExtension, certificate) {
                    ("critical extensions that are understood", ObjectIdentifier.text(layout.der[one.identifier]))
                }
            case .certificatePolicies, .policyMappings, .policyConstraints, .inhibitAnyPolicy:
                do throws(DERError) {
                    _ = try PolicyExtensions(of: certificate)
                } catch {
                    return Violation(error, in: "certificate policies", of: certificate)
                }
            default:
                continue
            }
        }
        return nil
    }
}
