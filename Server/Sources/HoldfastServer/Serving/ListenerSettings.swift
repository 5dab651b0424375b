import HoldfastProbe

/// Where a listener listens, and whom it believes.
public struct ListenerSettings: Sendable {
    /// The address.
    public let host: String
    /// The port; 0 for one that is free.
    public let port: Int
    /// The proxies whose word about a client's address counts.
    public let proxies: TrustedProxies
    /// The certificate to speak TLS with; nil for none.
    public let identity: TLSIdentity?
    /// Whether nobody reads what goes to it, also where no proxy stands before it: it speaks TLS itself, or on loopback.
    let isPrivate: Bool
    /// Whether other machines reach it: it does not listen on loopback, or a proxy stands before it.
    let isReachable: Bool
    /// Whether every answer has the id of its request, and not only errors: no cache keeps what it answers.
    var namesRequests = false
    /// What a client gets at most.
    public var limits: ListenerLimits

    /// Listens on loopback, unless told otherwise.
    /// - Throws: ``ServerError`` `invalidValue` for what is no address, and for one beyond loopback without TLS where no
    ///   proxy is named that speaks TLS in its place.
    public init(
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
