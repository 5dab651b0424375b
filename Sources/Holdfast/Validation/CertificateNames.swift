extension X509Certificate {
    /// Whether a subjectAltName entry names the host (RFC 9525 6.3); a common name never does.
    package func isNamed(_ host: DialledHost) -> Bool { ServerIdentity.violation(of: self, for: host) == nil }

    /// The dNSName entries of subjectAltName as they are written, wildcards included; empty where there are none or
    /// where they cannot be read.
    package var dnsNames: [String] {
        let names = ((try? subjectAltName) ?? nil) ?? []
        return names.compactMap { name in
            guard case .dNSName(let octets) = name else { return nil }
            return String(decoding: octets, as: UTF8.self)
        }
    }
}
