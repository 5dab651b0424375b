/// DNS names have the preferred name syntax (RFC 5280 4.2.1.6, RFC 1034 3.5, RFC 1123 2.1), a wildcard only as the whole
/// leftmost label and not above a public suffix (CA/B BR 3.2.2.6), and a DNS name constraint begins with a label
/// (RFC 5280 4.2.1.10).
struct NameSyntaxRule: PathRule {
    let name = "syntax of names"
    let reference = "RFC 5280 4.2.1.6, 4.2.1.10"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        do throws(DERError) {
            for name in try certificate.subjectAlternativeNames ?? [] {
                guard case .dNSName(let octets) = name else { continue }
                if !Self.isPreferredSyntax(octets) {
                    return violation(certificate, "DNS names of letters, digits and hyphens", name.text)
                }
                guard let suffixes = context.publicSuffixes,
                    octets.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")])
                else { continue }
                let parent = String(decoding: octets.dropFirst(2).map(DNSOctets.lowercase), as: UTF8.self)
                if !parent.contains(".") || suffixes.lists(parent) {
                    return violation(certificate, "no wildcard above a public suffix", name.text)
                }
            }
            for base in try certificate.nameConstraints.map({ $0.permitted + $0.excluded }) ?? [] {
                guard case .dNSName(let octets) = base, octets.first == UInt8(ascii: ".") else { continue }
                return violation(certificate, "a DNS name constraint that begins with a label", base.text)
            }
            return nil
        } catch {
            return Violation(error, in: "names", of: certificate)
        }
    }

    static func isPreferredSyntax(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= 253 else { return false }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.enumerated().allSatisfy { place, label in
            if place == 0, labels.count > 1, label.elementsEqual([UInt8(ascii: "*")]) { return true }
            let hyphen = UInt8(ascii: "-")
            guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else { return false }
            return label.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen:
                    true
                default:
                    false
                }
            }
        }
    }

    private func violation(_ certificate: X509Certificate, _ expected: String, _ found: String) -> Violation {
        Violation(.profileViolation, certificate) { (expected, found) }
    }
}
