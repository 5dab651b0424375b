import Holdfast

/// Decides which addresses may be probed, for services that probe hosts named by strangers. Without it, a stranger
/// could make the service connect to itself, to its network, or to the metadata of its cloud (SSRF, CWE-918).
///
/// Only addresses of the public Internet, and those of the allowed blocks, may be probed. The probe applies the filter
/// after it resolves a name, dials only addresses that passed, and applies the filter again to the connected socket
/// before it sends a byte.
public struct AddressFilter: Hashable, Sendable {
    /// Why an address may not be probed.
    public struct Refusal: Hashable, Sendable, CustomStringConvertible {
        /// The block to which the address belongs; nil if the address is not assigned.
        public let block: AddressBlock?
        /// The purpose of the block.
        public let purpose: String

        /// `loopback (127.0.0.0/8)`.
        public var description: String { block.map { "\(purpose) (\($0))" } ?? purpose }
    }

    /// The blocks that may be probed although they are not part of the public Internet. An IPv4 block does not allow
    /// IPv6 addresses in which its addresses are embedded.
    public let allowed: [AddressBlock]

    /// Makes a filter.
    /// - Parameter allowed: the blocks that may be probed nevertheless.
    public init(allowing allowed: [AddressBlock] = []) {
        self.allowed = allowed
    }

    /// Why an address may not be probed; nil if it may.
    public func refusal(of address: IPAddress) -> Refusal? {
        guard !allowed.contains(where: { $0.contains(address) }) else { return nil }
        if let special = Self.special.first(where: { $0.block.contains(address) }) {
            return Refusal(block: special.block, purpose: special.purpose)
        }
        guard address.family == .ipv6, !Self.global.contains(address) else { return nil }
        return Refusal(block: nil, purpose: "not global unicast (outside of \(Self.global))")
    }

    /// All IPv6 addresses that are assigned to the Internet (RFC 4291 2.4, IANA's "IPv6 Global Unicast Address
    /// Assignments").
    private static let global = AddressBlock(.ipv6, [0x20], 3)

    /// IANA's "IPv4" and "IPv6 Special-Purpose Address Registry" (RFC 6890), and the blocks that embed IPv4 addresses.
    /// Narrower blocks come first.
    private static let special: [(block: AddressBlock, purpose: String)] = [
        (.init(.ipv4, [0, 0, 0, 0], 32), "unspecified"),
        (.init(.ipv4, [0], 8), "this network (RFC 791)"),
        (.init(.ipv4, [10], 8), "private (RFC 1918)"),
        (.init(.ipv4, [100, 64], 10), "shared by providers (RFC 6598)"),
        (.init(.ipv4, [127], 8), "loopback (RFC 1122)"),
        (.init(.ipv4, [169, 254, 169, 254], 32), "metadata of clouds"),
        // Azure's: a public address that each virtual machine reaches only within its host.
        (.init(.ipv4, [168, 63, 129, 16], 32), "metadata of clouds"),
        (.init(.ipv4, [169, 254], 16), "link-local (RFC 3927)"),
        (.init(.ipv4, [172, 16], 12), "private (RFC 1918)"),
        (.init(.ipv4, [192, 0, 0], 24), "protocol assignments (RFC 6890)"),
        (.init(.ipv4, [192, 0, 2], 24), "documentation (RFC 5737)"),
        (.init(.ipv4, [192, 88, 99], 24), "6to4 relays (RFC 7526)"),
        (.init(.ipv4, [192, 168], 16), "private (RFC 1918)"),
        (.init(.ipv4, [198, 18], 15), "benchmarks (RFC 2544)"),
        (.init(.ipv4, [198, 51, 100], 24), "documentation (RFC 5737)"),
        (.init(.ipv4, [203, 0, 113], 24), "documentation (RFC 5737)"),
        (.init(.ipv4, [224], 4), "multicast (RFC 5771)"),
        (.init(.ipv4, [255, 255, 255, 255], 32), "broadcast (RFC 919)"),
        (.init(.ipv4, [240], 4), "reserved (RFC 1112)"),
        (.init(.ipv6, [], 128), "unspecified"),
        (.init(.ipv6, Array(repeating: 0, count: 15) + [1], 128), "loopback (RFC 4291)"),
        (.init(.ipv6, Array(repeating: 0, count: 10) + [0xFF, 0xFF], 96), "IPv4-mapped (RFC 4291)"),
        (.init(.ipv6, [], 96), "IPv4-compatible (RFC 4291)"),
        (.init(.ipv6, [0x00, 0x64, 0xFF, 0x9B], 96), "NAT64 (RFC 6052)"),
        (.init(.ipv6, [0x00, 0x64, 0xFF, 0x9B, 0, 1], 48), "NAT64 of a network (RFC 8215)"),
        (.init(.ipv6, [0x01], 64), "discard (RFC 6666)"),
        (.init(.ipv6, [0x20, 0x01, 0, 0], 32), "Teredo (RFC 4380)"),
        (.init(.ipv6, [0x20, 0x01, 0, 2, 0, 0], 48), "benchmarks (RFC 5180)"),
        (.init(.ipv6, [0x20, 0x01], 23), "protocol assignments (RFC 2928)"),
        (.init(.ipv6, [0x20, 0x01, 0x0D, 0xB8], 32), "documentation (RFC 3849)"),
        (.init(.ipv6, [0x20, 0x02], 16), "6to4 (RFC 3056)"),
        (.init(.ipv6, [0x3F, 0xFF, 0x00], 20), "documentation (RFC 9637)"),
        (
            .init(.ipv6, [0xFD, 0x00, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54], 128),
            "metadata of clouds"
        ),
        (.init(.ipv6, [0xFC], 7), "unique local (RFC 4193)"),
        (.init(.ipv6, [0xFE, 0x80], 10), "link-local (RFC 4291)"),
        (.init(.ipv6, [0xFE, 0xC0], 10), "site-local (RFC 3879)"),
        (.init(.ipv6, [0xFF], 8), "multicast (RFC 4291)"),
    ]
}
