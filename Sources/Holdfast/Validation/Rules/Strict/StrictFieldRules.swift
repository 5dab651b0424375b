/// A serial number is positive, in DER and has at most 20 octets (RFC 5280 4.1.2.2). Roots of the public web have the
/// number zero; an anchor was accepted as it is when it was chosen.
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
        violation(certificate, "a positive serial number of at most 20 octets", found)
    }
}

/// The bits of an RSA modulus are a multiple of eight (CA/B BR 6.1.5).
struct KeyShapeRule: PathRule {
    let name = "shape of the key"
    let reference = "CA/B BR 6.1.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard case .rsa(let bits)? = try? certificate.publicKey.kind, bits % 8 != 0 else { return nil }
        return violation(certificate, "an RSA modulus of a multiple of 8 bits", "\(bits) bits")
    }
}

/// Times through 2049 are UTCTime, later ones GeneralizedTime (RFC 5280 4.1.2.5). An anchor was accepted as it is when
/// it was chosen.
struct TimeFormRule: PathRule {
    let name = "form of times"
    let reference = "RFC 5280 4.1.2.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard !context.isAnchor, !certificate.layout.hasProfiledTimes else { return nil }
        return violation(certificate, "UTCTime through 2049", "a GeneralizedTime before 2050")
    }
}
