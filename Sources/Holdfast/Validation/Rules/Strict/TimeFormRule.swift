/// Times through 2049 are UTCTime, later ones GeneralizedTime (RFC 5280 4.1.2.5). What an anchor says of itself was decided
/// on when it was chosen.
struct TimeFormRule: PathRule {
    let name = "form of times"
    let reference = "RFC 5280 4.1.2.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard !context.isAnchor, !certificate.layout.hasProfiledTimes else { return nil }
        return Violation(.profileViolation, certificate) {
            ("UTCTime through 2049", "a GeneralizedTime before 2050")
        }
    }
}
