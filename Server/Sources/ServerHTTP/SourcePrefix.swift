package import HoldfastProbe
package import NIOCore

/// The source of requests for rate limits: the /24 of an IPv4 address or the /56 of an IPv6 address, which one
/// subscriber usually has. A limit per IPv6 address would have no effect.
package struct SourcePrefix: Sendable, Hashable {
    private let high: UInt64
    private let isIPv6: Bool

    /// Creates the prefix of an address. An IPv4-mapped IPv6 address (RFC 4291 2.5.5.2), as in sockets of both
    /// families, counts as IPv4.
    package init(_ address: IPAddress) {
        var bytes = address.octets[...]
        if bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            bytes = bytes.suffix(4)
        }
        isIPv6 = bytes.count == 16
        high = bytes.prefix(isIPv6 ? 7 : 3).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The source of connections without an address, such as those of Unix sockets.
    package static let unknown = SourcePrefix()

    private init() {
        high = .max
        isIPv6 = false
    }
}

/// A network of one of the sizes for which sources are counted.
package struct SourceNetwork: Sendable, Hashable {
    fileprivate let high: UInt64
    /// The length of the prefix, in bits.
    let length: UInt8
    fileprivate let isIPv6: Bool

    /// Whether it is the network of one source, not a larger one.
    var isSource: Bool { length == 24 || length == 56 }
}

extension SourcePrefix {
    /// The smallest network, which is the source itself.
    package var network: SourceNetwork { SourceNetwork(high: high, length: isIPv6 ? 56 : 24, isIPv6: isIPv6) }

    /// The networks of a source, from the smallest to the largest. For IPv6 these are the /56, the /48 and the /32,
    /// since a site usually has a /48 and a provider a /32 (RFC 6177). For IPv4 it is only the /24: larger IPv4
    /// networks have many owners.
    package var networks: [SourceNetwork] {
        guard isIPv6 else { return [network] }
        return [
            network,
            SourceNetwork(high: high >> 8, length: 48, isIPv6: true),
            SourceNetwork(high: high >> 24, length: 32, isIPv6: true),
        ]
    }

    /// The /48 and the /32 of an IPv6 address; empty for IPv4.
    package var largerNetworks: ArraySlice<SourceNetwork> { networks.dropFirst() }
}

extension IPAddress {
    /// The address of a peer; nil for a peer without one.
    package init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        // Remove the zone, which has a meaning only on this machine.
        guard let address = try? IPAddress(String(text.prefix { $0 != "%" })) else { return nil }
        self = address
    }

    /// The IPv4 address that is mapped into this one (RFC 4291 2.5.5.2), or the address itself.
    var unmapped: IPAddress {
        guard octets.count == 16, octets.prefix(10).allSatisfy({ $0 == 0 }), octets[10] == 0xFF, octets[11] == 0xFF
        else { return self }
        return IPAddress(octets: Array(octets.suffix(4))) ?? self
    }
}
