extension PathRule {
    /// A common name that is a host is one of the subjectAltName entries, character for character (CA/B BR 7.1.4.3). It
    /// never identifies a host, but a different name would mislead readers.
    ///
    /// This applies to addresses in any notation, A-labels and U-labels, and names that differ from an entry only in
    /// case. A plain name next to entries for other names is allowed: private authorities use it for services with
    /// several names, and it identifies nothing.
    static let commonName = PathRule("common name", "CA/B BR 7.1.4.3") { certificate, _ in
        guard let attribute = certificate.subject.lastCommonNameAttribute, !attribute.value.isEmpty,
            let names = try? certificate.subjectAltName
        else { return nil }
        // Compare bytes, because an attacker can make comparing text expensive.
        guard let common = attribute.utf8, !common.isEmpty else { return nil }
        let looksLikeHost = Self.looksLikeAddress(common) || Self.isInternational(common)
        var work = 0
        guard let differsInCase = Self.differsInCase(common, from: names, work: &work), differsInCase || looksLikeHost,
            !Self.isAddress(common, among: names)
        else { return nil }
        return .profile(
            certificate, "a common name that is one of the subjectAltName entries",
            String(decoding: common, as: UTF8.self).quoted)
    }

    /// Whether an entry differs from the name only in case; nil if one is the name itself.
    /// - Parameter work: increased with every byte that is read, and with every entry.
    static func differsInCase(_ common: [UInt8], from names: [GeneralNameSlice], work: inout Int) -> Bool? {
        var differs = false
        for case .dNSName(let name) in names {
            work += name.count == common.count ? name.count : 1
            guard DNSOctets.equal(name, common) else { continue }
            if name.elementsEqual(common) { return nil }
            differs = true
        }
        return differs
    }

    /// Whether it is the usual notation of an address among the entries.
    private static func isAddress(_ common: [UInt8], among names: [GeneralNameSlice]) -> Bool {
        guard common.count <= AddressText.maximumIPv6Bytes, common.allSatisfy({ $0 < 0x80 }) else { return false }
        let text = String(decoding: common, as: UTF8.self)
        guard let octets = (try? DialedHost(text))?.addressOctets,
            text == (octets.count == 4 ? AddressText.ipv4(octets) : AddressText.ipv6(octets))
        else { return false }
        return names.contains { name in
            if case .iPAddress(let address) = name { address.elementsEqual(octets) } else { false }
        }
    }

    private static func looksLikeAddress(_ text: [UInt8]) -> Bool {
        var (separators, hasColon) = (0, false)
        for octet in text {
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "x"):
                continue
            case UInt8(ascii: "."): separators += 1
            case UInt8(ascii: ":"):
                separators += 1
                hasColon = true
            default: return false
            }
        }
        let isHexadecimal = text.first == UInt8(ascii: "0") && text.dropFirst().first == UInt8(ascii: "x")
        return hasColon ? separators >= 2 : separators == 3 || isHexadecimal
    }

    /// Whether a name of several labels has an A-label or a U-label.
    private static func isInternational(_ text: [UInt8]) -> Bool {
        var (hasDot, isInternational) = (false, false)
        var matched = 0
        let prefix = Array("xn--".utf8)
        for octet in text {
            if octet == UInt8(ascii: ".") { hasDot = true }
            if octet >= 0x80 { isInternational = true }
            let lower = DNSOctets.lowercase(octet)
            matched = lower == prefix[matched] ? matched + 1 : lower == prefix[0] ? 1 : 0
            if matched == prefix.count { (isInternational, matched) = (true, 0) }
        }
        return hasDot && isInternational
    }
}

extension DistinguishedName.Attribute {
    /// The value as UTF-8; nil if it is not text.
    fileprivate var utf8: [UInt8]? {
        DistinguishedName.Attribute.text(tag: tag, value: Array(value)).map { Array($0.utf8) }
    }
}

extension PathRule {
    /// DNS names have the preferred name syntax (RFC 5280 4.2.1.6, RFC 1034 3.5, RFC 1123 2.1), a wildcard only as the
    /// whole leftmost label and not above a public suffix (CA/B BR 3.2.2.6), and a DNS name constraint begins with a
    /// label (RFC 5280 4.2.1.10).
    static let nameSyntax = reading("syntax of names", "RFC 5280 4.2.1.6, 4.2.1.10", field: "names") {
        (certificate, context) throws(DERError) in
        for name in try certificate.subjectAltName ?? [] {
            guard case .dNSName(let octets) = name else { continue }
            if !Self.isPreferredSyntax(octets) {
                return .profile(certificate, "DNS names of letters, digits and hyphens", name.text)
            }
            guard let suffixes = context.publicSuffixes,
                octets.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")])
            else { continue }
            let parent = String(decoding: octets.dropFirst(2).map(DNSOctets.lowercase), as: UTF8.self)
            if !parent.contains(".") || suffixes.lists(parent) {
                return .profile(certificate, "no wildcard above a public suffix", name.text)
            }
        }
        for base in try certificate.nameConstraints.map({ $0.permitted + $0.excluded }) ?? [] {
            guard case .dNSName(let octets) = base, octets.first == UInt8(ascii: ".") else { continue }
            return .profile(certificate, "a DNS name constraint that begins with a label", base.text)
        }
        return nil
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
}
