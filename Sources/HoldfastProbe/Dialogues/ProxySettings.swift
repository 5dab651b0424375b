public import Holdfast

/// The proxy for the connection to each host: one proxy for all hosts, or the proxy from the environment, as curl and
/// other programs read it: HTTPS_PROXY, except for the hosts of NO_PROXY.
public struct ProxySettings: Sendable {
    private let proxy: ProxyServer?
    private let exceptions: [Substring]

    /// Connects to every host directly.
    public static let none = ProxySettings(always: nil)

    /// - Parameter proxy: the proxy for every host; nil for none.
    public init(always proxy: ProxyServer?) {
        self.proxy = proxy
        exceptions = []
    }

    /// Reads `HTTPS_PROXY` and `NO_PROXY`. The lowercase names take precedence.
    /// - Throws: ``ProbeConfigurationError`` if it names a proxy that cannot be used. The error does not repeat the
    ///   value, which may contain a password.
    public init(environment: [String: String]) throws(ProbeConfigurationError) {
        func value(_ name: String) -> String? {
            [name.lowercased(), name].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        exceptions = (value("NO_PROXY") ?? "").split { $0 == "," || $0.isWhitespace }
        if let text = value("HTTPS_PROXY") { proxy = try ProxyServer(text) } else { proxy = nil }
    }

    /// The proxy for a host with its port; nil for a direct connection.
    public func proxy(for host: DialedHost) -> ProxyServer? {
        exceptions.contains { Self.covers($0, host) } ? nil : proxy
    }

    /// Whether an exception covers a host. An exception is `*`; a domain with all its subdomains, with or without a
    /// leading dot; an address; or a block of addresses such as `10.0.0.0/8`, which covers hosts that are dialed by
    /// address. A port restricts it.
    private static func covers(_ exception: Substring, _ host: DialedHost) -> Bool {
        guard exception != "*" else { return true }
        if let slash = exception.lastIndex(of: "/") {
            return covers(exception[..<slash], prefix: exception[exception.index(after: slash)...], host)
        }
        let name = exception.hasPrefix("*.") ? exception.dropFirst(2) : exception.drop { $0 == "." }
        guard let domain = try? HostAndPort.host(String(name)) else { return false }
        if let port = domain.port, port != host.port { return false }
        if domain.name == host.name { return true }
        return host.addressOctets == nil && domain.addressOctets == nil && host.name.hasSuffix("." + domain.name)
    }

    /// Whether an address is in a block (RFC 4632): the first bits of both are the same.
    private static func covers(_ address: Substring, prefix: Substring, _ host: DialedHost) -> Bool {
        guard (1...3).contains(prefix.utf8.count), prefix.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(prefix), address.utf8.count <= 64,
            let block = (try? HostAndPort.host(String(address)))?.addressOctets, let octets = host.addressOctets,
            block.count == octets.count, bits <= octets.count * 8
        else { return false }
        return zip(block, octets).enumerated().allSatisfy { index, pair in
            let kept = min(8, max(0, bits - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
            return pair.0 & mask == pair.1 & mask
        }
    }
}
