extension PathRule {
    /// A serial number is positive, in DER and has at most 20 bytes (RFC 5280 4.1.2.2). Some roots of the public web
    /// have the number zero; an anchor was accepted with its number when it was chosen.
    static let serialNumber = PathRule("serialNumber", "RFC 5280 4.1.2.2") { certificate, context in
        guard !context.isAnchor else { return nil }
        let octets = certificate.serialNumber
        func violation(_ found: String) -> Violation {
            .profile(certificate, "a positive serial number of at most 20 octets", found)
        }
        if octets.count > 20 { return violation("\(octets.count) octets") }
        if octets.first.map({ $0 >= 0x80 }) ?? true { return violation("a negative number") }
        if octets.count > 1, octets.starts(with: [0]), octets.dropFirst().first.map({ $0 < 0x80 }) == true {
            return violation("a padded number")
        }
        return octets.allSatisfy { $0 == 0 } ? violation("zero") : nil
    }

    /// The bits of an RSA modulus are a multiple of eight (CA/B BR 6.1.5).
    static let keyShape = PathRule("shape of the key", "CA/B BR 6.1.5") { certificate, _ in
        guard case .rsa(let bits)? = try? certificate.publicKey.kind, bits % 8 != 0 else { return nil }
        return .profile(certificate, "an RSA modulus of a multiple of 8 bits", "\(bits) bits")
    }

    /// Times through 2049 are UTCTime, later ones GeneralizedTime (RFC 5280 4.1.2.5). An anchor was accepted with its
    /// form when it was chosen.
    static let timeForm = PathRule("form of times", "RFC 5280 4.1.2.5") { certificate, context in
        guard !context.isAnchor, !certificate.layout.hasProfiledTimes else { return nil }
        return .profile(certificate, "UTCTime through 2049", "a GeneralizedTime before 2050")
    }
}
