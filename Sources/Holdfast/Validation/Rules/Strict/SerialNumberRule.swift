/// A serial number is positive, in DER and has at most 20 octets (RFC 5280 4.1.2.2). Roots of the public web have the
/// number zero; what an anchor says of itself was decided on when it was chosen.
struct SerialNumberRule: PathRule {
    let name = "serialNumber"
    let reference = "RFC 5280 4.1.2.2"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard !context.isAnchor else { return nil }
        let octets = certificate.serialNumber
        if octets.count > 20 {
            return violation(certificate, "\(octets.count) octets")
        }
        if octets.first.map({ $0 >= 0x80 }) ?? true { return violation(certificate, "a negative number") }
        if octets.count > 1, octets.starts(with: [0]), octets.dropFirst().first.map({ $0 < 0x80 }) == true {
            return violation(certificate, "a padded number")
        }
        return octets.allSatisfy { $0 == 0 } ? violation(certificate, "zero") : nil
    }

    private func violation(_ certificate: X509Certificate, _ found: String) -> Violation {
        Violation(.profileViolation, certificate) { ("a positive serial number of at most 20 octets", found) }
    }
}
