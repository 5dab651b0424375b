package import Foundation

/// Detects hosts that lead to this machine, by the bytes of an address and never by its spelling.
package enum LocalHost {
    /// Whether an address belongs to this machine on every machine: 127.0.0.0/8 and 0.0.0.0/8 (RFC 6890 2.2.2), `::1`
    /// and `::` (RFC 4291 2.5), and the IPv6 forms that carry one of those IPv4 addresses: mapped (RFC 4291 2.5.5.2),
    /// translated (RFC 6052 2.1, RFC 2765 2.1) and 6to4 (RFC 3056); of the compatible form (RFC 4291 2.5.5.1) those of
    /// 127.0.0.0/8.
    /// - Parameter octets: four or sixteen bytes, in network order.
    package static func isAddress(_ octets: some Collection<UInt8>) -> Bool {
        let octets = Array(octets)
        switch octets.count {
        case 4: return octets[0] == 127 || octets[0] == 0
        case 16:
            if octets.prefix(15).allSatisfy({ $0 == 0 }) { return octets[15] <= 1 }
            if octets.prefix(12).allSatisfy({ $0 == 0 }) { return octets[12] == 127 }
            return carriedIPv4(in: octets).map { isAddress($0) } ?? false
        default: return false
        }
    }

    private static func carriedIPv4(in octets: [UInt8]) -> ArraySlice<UInt8>? {
        if octets[0] == 0x20, octets[1] == 0x02 { return octets[2..<6] }
        let prefixes: [[UInt8]] = [
            [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF],
            [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 0, 0],
            [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8),
        ]
        return prefixes.contains { octets.starts(with: $0) } ? octets[12...] : nil
    }

    /// Whether a host is certainly this machine: one of its addresses, or `localhost` in any case, with or without a
    /// final dot. Use this to allow something; to refuse something, use ``mayBe(_:)``.
    package static func isSurely(_ host: DialedHost) -> Bool {
        switch host.kind {
        case .name(let name): name.hasSameOctets(as: "localhost")
        case .ipv4(let octets), .ipv6(let octets): isAddress(octets)
        }
    }

    /// Whether a host may be this machine. This includes names below `localhost` (RFC 6761 6.3), and the names that the
    /// machine has been given.
    package static func mayBe(_ host: DialedHost) -> Bool {
        guard case .name(let name) = host.kind, !isSurely(host) else { return isSurely(host) }
        let octets = name.utf8
        return octets.reversed().starts(with: ".localhost".utf8.reversed())
            || alternatives.contains { $0.hasSameOctets(as: name) }
    }

    /// Whether the host of a URL is surely this machine.
    package static func isSurely(_ url: URL) -> Bool { (try? DialedHost(url: url)).map(isSurely) ?? false }

    /// Whether the host of a URL may be this machine. An invalid host may be this machine: other parsers read ambiguous
    /// texts such as `127.1`, `0x7f.1` or `2130706433` as addresses.
    package static func mayBe(_ url: URL) -> Bool { (try? DialedHost(url: url)).map(mayBe) ?? true }

    private static let longestName = 256

    /// The aliases of the usual host files, and the machine's own name, whole and its first label.
    private static let alternatives: [String] = {
        var names = ["localhost.localdomain", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback"]
        var text = [CChar](repeating: 0, count: longestName)
        // This queries no resolver, unlike Foundation's hostName on Apple's platforms.
        if unsafe gethostname(&text, longestName - 1) == 0 {
            let octets = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            if case .name(let own)? = (try? DialedHost(String(decoding: octets, as: UTF8.self)))?.kind {
                names.append(own)
                if let label = own.split(separator: ".").first { names.append(String(label)) }
            }
        }
        return names
    }()
}
