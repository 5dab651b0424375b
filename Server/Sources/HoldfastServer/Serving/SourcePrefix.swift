import HoldfastProbe
import NIOCore

/// Where requests come from, as far as rates are concerned: the /24 of an IPv4 address, the /56 of an IPv6 address. That
/// is what one subscriber usually has; a rate for each address of IPv6 would be no limit at all.
struct SourcePrefix: Sendable, Hashable {
    private let high: UInt64
    private let isIPv6: Bool

    /// The prefix of an address. An IPv4 address in IPv6 (RFC 4291 2.5.5.2), as sockets of both families have it, is one
    /// of IPv4.
    init(_ address: IPAddress) {
        var bytes = address.octets[...]
        if bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            bytes = bytes.suffix(4)
        }
        isIPv6 = bytes.count == 16
        high = bytes.prefix(isIPv6 ? 7 : 3).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Connections that have no address, such as those of Unix sockets.
    static let unknown = SourcePrefix()

    private init() {
        high = .max
        isIPv6 = false
    }
}

/// A network of one of the sizes at which sources are counted.
struct SourceNetwork: Sendable, Hashable {
    fileprivate let high: UInt64
    /// The length of the prefix, in bits.
    let length: UInt8
    fileprivate let isIPv6: Bool

    /// Whether it is that of one source, not a larger one.
    var isSource: Bool { length == 24 || length == 56 }
}

extension SourcePrefix {
    /// The smallest network: the source itself.
    var network: SourceNetwork { SourceNetwork(high: high, length: isIPv6 ? 56 : 24, isIPv6: isIPv6) }

    /// The networks in which a source is, from the smallest to the largest: the /56, the /48 and the /32 of an IPv6
    /// address, since a site usually has a /48 and a provider a /32 (RFC 6177). An IPv4 address is counted by its
    /// /24 only: larger networks of IPv4 have many owners.
    var networks: [SourceNetwork] {
        guard isIPv6 else { return [network] }
        return [
            network,
            SourceNetwork(high: high >> 8, length: 48, isIPv6: true),
            SourceNetwork(high: high >> 24, length: 32, isIPv6: true),
        ]
    }

    /// The /48 and the /32 of an IPv6 address; empty for IPv4.
    var largerNetworks: ArraySlice<SourceNetwork> { networks.dropFirst() }
}

extension IPAddress {
    /// The address of a peer; nil for a peer without one.
    init?(_ address: SocketAddress?) {
        guard let text = address?.ipAddress else { return nil }
        // A zone belongs to this machine's own network.
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
