public import HoldfastProbe

/// The proxies whose word about a client's address counts (`--behind-proxy`). From everybody else the header is
/// something that an attacker wrote.
public struct TrustedProxies: Sendable, Hashable {
    /// The blocks of their addresses.
    public let blocks: [AddressBlock]

    /// No more are looked at: each proxy adds one, and chains are short.
    static let maximumHops = 16
    /// Longer headers count as none.
    static let maximumSize = 1_024

    /// Nobody is trusted.
    public static let none = TrustedProxies([])

    /// Trusts the proxies of some blocks.
    public init(_ blocks: [AddressBlock]) { self.blocks = blocks }

    /// Whether an address is that of a proxy.
    func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address.unmapped) } }

    /// The address of the client: the last one that no trusted proxy has.
    /// - Parameters:
    ///   - peer: the address that is connected.
    ///   - forwarded: the values of `X-Forwarded-For`, in the order of the header.
    func client(behind peer: IPAddress, forwarded: [String]) -> IPAddress {
        guard contains(peer), forwarded.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumSize else { return peer }
        var client = peer
        let hops = forwarded.flatMap { $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
        for hop in hops.reversed().prefix(Self.maximumHops) {
            // What cannot be read was not written by a proxy of ours; the last good address stands.
            guard let address = Self.address(Array(hop)) else { break }
            client = address.unmapped
            guard contains(address) else { break }
        }
        return client
    }

    private static func address(_ bytes: [UInt8]) -> IPAddress? {
        let text = bytes.drop { $0 == 0x20 || $0 == 0x09 }.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed()
        // As long as an IPv6 address with brackets.
        guard (2...48).contains(text.count), text.allSatisfy({ isPartOfAddress($0) }) else { return nil }
        return try? IPAddress(String(decoding: Array(text), as: UTF8.self))
    }

    private static func isPartOfAddress(_ byte: UInt8) -> Bool {
        ASCIIText.isAlphanumeric(byte) || ".:[]".utf8.contains(byte)
    }
}
