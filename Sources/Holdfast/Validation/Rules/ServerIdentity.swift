/// Server identity according to RFC 9525: the host that was dialed is one of the leaf's subjectAltName entries.
///
/// DNS names compare label by label without regard to case; a wildcard is a whole leftmost label and stands for exactly
/// one. Addresses compare with iPAddress entries only. Common names do not identify a host.
enum ServerIdentity {
    static func violation(of leaf: X509Certificate, for host: DialedHost) -> Violation? {
        let names: [GeneralNameSlice]?
        do throws(DERError) {
            names = try leaf.subjectAltName
        } catch {
            return Violation(error, in: "subjectAltName", of: leaf)
        }
        guard let names else {
            return Violation(
                .noSubjectAlternativeName, leaf, "a subjectAltName entry for \(host.name)", "no subjectAltName")
        }
        guard !names.contains(where: { matches($0, host) }) else { return nil }
        return Violation(.hostNameMismatch, leaf) {
            let shown = names.prefix(20).map(\.text).joined(separator: ", ")
            return (
                "a subjectAltName entry for \(host.name)",
                names.count > 20 ? "\(shown) and \(names.count - 20) more" : shown
            )
        }
    }

    static func matches(_ name: GeneralNameSlice, _ host: DialedHost) -> Bool {
        switch (name, host.kind) {
        case (.dNSName(let presented), .name(let dialed)):
            return matches(presented: presented, dialed: dialed)
        case (.iPAddress(let octets), .ipv4), (.iPAddress(let octets), .ipv6):
            return host.addressOctets.map { octets.elementsEqual($0) } ?? false
        default:
            return false
        }
    }

    /// Compares a DNS name (RFC 9525 section 6.3). `dialed` is in canonical form: A-labels, lower case, no trailing
    /// dot.
    private static func matches(presented: ArraySlice<UInt8>, dialed: String) -> Bool {
        let dialed = dialed.utf8
        guard presented.first == UInt8(ascii: "*") else { return DNSOctets.equal(presented, dialed) }
        let suffix = presented.dropFirst()
        // RFC 9525 allows neither a lone `*` nor a second one; a wildcard stands for one whole label of the host.
        guard suffix.first == UInt8(ascii: "."), suffix.count > 1, !suffix.contains(UInt8(ascii: "*")),
            let dot = dialed.firstIndex(of: UInt8(ascii: ".")), dot > dialed.startIndex
        else { return false }
        return DNSOctets.equal(suffix, dialed[dot...])
    }
}

extension X509Certificate {
    /// Whether a subjectAltName entry names the host (RFC 9525 6.3); a common name never does.
    package func isNamed(_ host: DialedHost) -> Bool { ServerIdentity.violation(of: self, for: host) == nil }
}
