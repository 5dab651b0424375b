import HoldfastProbe
package import ServerFoundation

/// The address of a listener, and the proxies that it trusts.
package struct ListenerSettings: Sendable {
    /// The address.
    package let host: String
    /// The port; 0 for any free port.
    package let port: Int
    /// The proxies that are trusted to state a client's address.
    package let proxies: TrustedProxies
    /// The certificate and key for TLS; nil for none.
    package let identity: TLSIdentity?
    /// Whether its traffic is private even without a proxy: it speaks TLS itself, or listens on loopback.
    package let isPrivate: Bool
    /// Whether other machines can reach it: it does not listen on loopback, or is behind a proxy.
    package let isReachable: Bool
    /// Whether each response has the id of its request, not only errors. It requires that responses are never cached.
    package var namesRequests = false
    /// The limits for clients.
    package var limits: ListenerLimits

    /// Creates settings, for loopback by default.
    /// - Throws: ``ServerError`` `invalidValue` for an invalid address, and for one beyond loopback without TLS unless
    ///   a TLS proxy is named.
    package init(
        host: String = "127.0.0.1", port: Int, proxies: TrustedProxies = .none, identity: TLSIdentity? = nil,
        limits: ListenerLimits = ListenerLimits()
    ) throws(ServerError) {
        guard ASCIIText.isPrintable(host.utf8, 1...64), let address = try? IPAddress(host),
            (0...65_535).contains(port)
        else {
            throw ServerError(
                .invalidValue, of: "listen", expected: "an IP address and a port of 0 to 65535",
                found: "another text of \(host.utf8.count) bytes, port \(port)")
        }
        guard identity != nil || !proxies.blocks.isEmpty || Self.isLoopback(address) else {
            throw ServerError(
                .invalidValue, of: "listen", expected: "a loopback address such as 127.0.0.1", found: "\(address)",
                remedy: "Give a certificate, or name the proxies that speak TLS before it with --behind-proxy.")
        }
        isReachable = !Self.isLoopback(address) || !proxies.blocks.isEmpty
        isPrivate = identity != nil || Self.isLoopback(address)
        self.host = host
        self.port = port
        self.proxies = proxies
        self.identity = identity
        self.limits = limits
    }

    private static func isLoopback(_ address: IPAddress) -> Bool {
        address.octets.count == 4
            ? address.octets[0] == 127 : address.octets.dropLast().allSatisfy { $0 == 0 } && address.octets[15] == 1
    }
}
