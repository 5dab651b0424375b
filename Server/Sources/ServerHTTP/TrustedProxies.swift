package import HoldfastProbe
import ServerFoundation

/// The proxies that are trusted to state a client's address (`--behind-proxy`). The header of any other client is
/// untrusted.
package struct TrustedProxies: Sendable, Hashable {
    /// The address blocks of the proxies.
    package let blocks: [AddressBlock]

    /// Maximum number of addresses examined: each proxy adds one, and chains of proxies are short.
    static let maximumHops = 16
    /// Maximum size of the header; a longer one is ignored.
    package static let maximumSize = 1_024

    /// Trusts no proxy.
    package static let none = TrustedProxies([])

    /// Trusts the proxies in some blocks.
    package init(_ blocks: [AddressBlock]) { self.blocks = blocks }

    /// Whether an address is that of a proxy.
    package func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address.unmapped) } }

    /// The address of the client: the last one that does not belong to a trusted proxy.
    /// - Parameters:
    ///   - peer: the address of the connection's peer.
    ///   - forwarded: the values of `X-Forwarded-For`, in the order of the header.
    package func client(behind peer: IPAddress, forwarded: [String]) -> IPAddress {
        guard contains(peer), forwarded.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumSize else { return peer }
        var client = peer
        let hops = forwarded.flatMap { $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
        for hop in hops.reversed().prefix(Self.maximumHops) {
            // No trusted proxy wrote an unreadable address, so the last readable one is used.
            guard let address = Self.address(Array(hop)) else { break }
            client = address.unmapped
            guard contains(address) else { break }
        }
        return client
    }

    private static func address(_ bytes: [UInt8]) -> IPAddress? {
        let text = bytes.drop { $0 == 0x20 || $0 == 0x09 }.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed()
        // The maximum length is that of an IPv6 address in brackets.
        guard (2...48).contains(text.count), text.allSatisfy({ isPartOfAddress($0) }) else { return nil }
        return try? IPAddress(String(decoding: Array(text), as: UTF8.self))
    }

    private static func isPartOfAddress(_ byte: UInt8) -> Bool {
        ASCIIText.isAlphanumeric(byte) || ".:[]".utf8.contains(byte)
    }
}
