/// A common name that is a host is one of the subjectAltName entries, character for character (CA/B BR 7.1.4.3). It
/// identifies nobody either way; what differs would mislead who reads it.
///
/// Held to it are addresses, in whatever notation, A-labels and U-labels, and names that differ from an entry only in
/// case. That a plain name stands beside entries for other names is let pass: private authorities do so for a service
/// with several names, and nothing is identified by it.
struct CommonNameRule: PathRule {
    let name = "common name"
    let reference = "CA/B BR 7.1.4.3"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard let common = certificate.subject.lastCommonName, !common.isEmpty,
            let names = try? certificate.subjectAlternativeNames
        else { return nil }
        let texts = names.compactMap { name -> String? in
            switch name {
            case .dNSName(let octets): String(decoding: octets, as: UTF8.self)
            case .iPAddress(let octets):
                octets.count == 4 ? AddressText.ipv4(Array(octets)) : AddressText.ipv6(Array(octets))
            default: nil
            }
        }
        guard !texts.contains(common) else { return nil }
        guard
            Self.looksLikeAddress(common) || Self.isInternational(common)
                || texts.contains(where: { $0.lowercased() == common.lowercased() })
        else { return nil }
        return Violation(.profileViolation, certificate) {
            ("a common name that is one of the subjectAltName entries", common.quoted)
        }
    }

    private static func looksLikeAddress(_ text: String) -> Bool {
        let digits = text.unicodeScalars.allSatisfy {
            $0.properties.isASCIIHexDigit || "x.:".unicodeScalars.contains($0)
        }
        let separators = text.count { $0 == "." || $0 == ":" }
        return digits && (text.contains(":") ? separators >= 2 : separators == 3 || text.lowercased().hasPrefix("0x"))
    }

    private static func isInternational(_ text: String) -> Bool {
        text.contains(".") && (text.lowercased().contains("xn--") || !text.allSatisfy(\.isASCII))
    }
}
