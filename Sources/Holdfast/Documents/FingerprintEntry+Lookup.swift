extension FingerprintEntry {
    /// The reason why no client looks up a name, although it denotes a host; nil for a name that clients look up, and
    /// for a common name that is not a host.
    ///
    /// Clients look up the canonical name of the host that is dialed, ignoring ASCII case, and then the wildcard above
    /// its first label: see ``names(for:)``. So no client uses an entry for `api.example.com.`, `bücher.example` or
    /// `host:443`.
    /// - Parameter name: a name of an entry, at most ``DocumentLimits/nameBytes`` bytes.
    package static func objection(toName name: String) -> String? {
        if name.utf8.starts(with: "**.".utf8) { return "clients know the wildcard *. and not **." }
        let isWildcard = name.utf8.starts(with: "*.".utf8)
        let rest = isWildcard ? String(decoding: name.utf8.dropFirst(2), as: UTF8.self) : name
        guard let host = try? HostAndPort.host(rest) else { return nil }
        let asked = isWildcard ? "*." + host.name : host.name
        if isWildcard, !host.name.utf8.contains(UInt8(ascii: ".")) || host.serverNameIndication == nil {
            return "clients know no wildcard above \(host.name.quoted)"
        }
        guard host.port == nil, rest.utf8.lazy.map(DNSOctets.lowercase).elementsEqual(host.name.utf8) else {
            return "clients ask for \(asked.quoted)"
        }
        return nil
    }

    /// A name as clients look it up: that of a host without its trailing dot, in A-labels and lower case, and with an
    /// IPv6 address in its canonical spelling; any other text in lower case.
    static func lookupName(of name: String) -> String {
        let lower = String(decoding: name.utf8.map(DNSOctets.lowercase), as: UTF8.self)
        guard !lower.utf8.starts(with: "*".utf8), let host = try? DialedHost(lower) else { return lower }
        return host.name
    }

    /// The latest expiry that RFC 5280 4.1.2.5 can state for a certificate, 9999-12-31T23:59:59Z, in Unix seconds. A
    /// later one is most likely in milliseconds.
    package static let latestExpiry: Int64 = 253_402_300_799
}
