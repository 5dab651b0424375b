public import Holdfast

/// An IP address without a zone. An address with a zone is valid only in a network of this machine, so it is never
/// published.
public struct IPAddress: Hashable, Sendable {
    /// The version of the Internet Protocol.
    public enum Family: Hashable, Sendable, CaseIterable {
        /// Four bytes (RFC 791).
        case ipv4
        /// Sixteen bytes (RFC 4291).
        case ipv6
    }

    /// The four or sixteen bytes of the address, in network order.
    public let octets: [UInt8]

    /// - Returns: nil unless there are four or sixteen bytes.
    public init?(octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
    }

    /// Takes the address from a dialed host.
    /// - Returns: nil if a name was dialed.
    public init?(_ host: DialedHost) {
        guard let octets = host.addressOctets else { return nil }
        self.octets = octets
    }

    /// Reads `192.0.2.7`, `2001:db8::7` or `[2001:db8::7]`.
    /// - Throws: ``ProbeConfigurationError`` with `invalidAddress`.
    public init(_ text: String) throws(ProbeConfigurationError) {
        guard let host = try? DialedHost(text), let octets = host.addressOctets else {
            throw ProbeConfigurationError(.invalidAddress, expected: "an IP address", found: text.quoted)
        }
        self.octets = octets
    }

    /// The IP version.
    public var family: Family { octets.count == 4 ? .ipv4 : .ipv6 }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text (RFC 5952 for IPv6), without brackets.
    public var description: String { DialedHost(address: octets).name }
}

/// An address and the port at which it was probed.
public struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: IPAddress
    /// The port, 1 to 65535.
    public let port: Int

    /// Makes a peer address.
    public init(_ address: IPAddress, port: Int) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.7:443` or `[2001:db8::7]:443`.
    public var description: String { HostAndPort.text(address.description, port: port) }
}
