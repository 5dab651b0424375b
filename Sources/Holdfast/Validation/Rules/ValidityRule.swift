import struct Foundation.Date

/// A certificate is valid from the first to the last second it names, both included (RFC 5280 4.1.2.5).
struct ValidityRule: PathRule {
    let name = "validity"
    let reference = "RFC 5280 4.1.2.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard context.checksValidity else { return nil }
        let time = context.time
        let layout = certificate.layout
        if time < layout.notBefore {
            return Violation(.notYetValid, certificate) {
                (
                    "notBefore at or before \(Self.text(time))",
                    "notBefore \(Self.text(layout.notBefore)) of \(certificate.subject)"
                )
            }
        }
        if time > layout.notAfter {
            return Violation(.expired, certificate) {
                (
                    "notAfter at or after \(Self.text(time))",
                    "notAfter \(Self.text(layout.notAfter)) of \(certificate.subject)"
                )
            }
        }
        return nil
    }

    private static func text(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}
