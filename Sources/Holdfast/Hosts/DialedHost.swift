public import Foundation

/// The host that the application asked for. Policy, server name indication, identity check and connection all use it.
///
/// It is made once, from the caller's text, and is in one canonical form: a name in A-labels (UTS 46,
/// non-transitional), in lower case and without the trailing dot, or the bytes of an address. Two texts that mean the
/// same host give equal values. A text that resolvers and certificates could read differently is an error.
public struct DialedHost: Hashable, Sendable {
    /// A name or an address.
    package enum Kind: Hashable, Sendable {
        /// A name in A-labels, lower case, at most 253 bytes, without a trailing dot.
        case name(String)
        /// The four bytes of an IPv4 address, in network order.
        case ipv4([UInt8])
        /// The sixteen bytes of an IPv6 address, in network order.
        case ipv6([UInt8])
    }

    /// The name or the address.
    package let kind: Kind
    /// The port, 1 to 65535, if it is known.
    public let port: Int?

    /// Parses the host that a caller specifies.
    ///
    /// It accepts names, in ASCII or Unicode, with underscores (service names have them), with hyphens at the edges of
    /// all labels except the last, and with one trailing dot; IPv4 addresses as four decimal octets without leading
    /// zeros; IPv6 addresses (RFC 4291 2.2), in brackets or without, and without a zone. It refuses a URL, a port in
    /// the text, and a name whose last label is a number.
    ///
    /// - Parameters:
    ///   - text: a name or an address.
    ///   - port: the port, if it is known.
    /// - Throws: ``HostError``.
    public init(_ text: String, port: Int? = nil) throws(HostError) {
        self.kind = try HostText.kind(of: text)
        self.port = try Self.checked(port)
    }

    /// Takes the host of a URL, and its port: the one it states, or 443 for `https` and `wss`.
    ///
    /// A host with percent-encoding in the URL is refused.
    ///
    /// - Throws: ``HostError``; `empty` if the URL has no host.
    public init(url: URL) throws(HostError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = parts.encodedHost,
            !host.isEmpty
        else {
            throw HostError(
                .empty, expected: "a URL with a host", found: url.quotedAddress,
                remedy: "Give an absolute URL, for example https://www.example.com.")
        }
        if parts.rangeOfPort != nil, parts.port == nil { throw Self.invalidPort(found: "one that is no number") }
        let scheme = parts.scheme?.lowercased()
        try self.init(host, port: parts.port ?? (scheme == "https" || scheme == "wss" ? 443 : nil))
    }

    /// Reads a host as the published interfaces accept it: a name, or a URL, of which only the host is used.
    ///
    /// - Throws: ``HostError``.
    package init(publishedHostName text: String) throws(HostError) {
        guard text.utf8.count <= HostText.maximumURLBytes, text.containsOctets(of: "://") else {
            try self.init(text)
            return
        }
        // URL parsers disagree about where a host ends if it contains one of these.
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }),
            let url = URL(string: text)
        else {
            throw HostError(
                .forbiddenCharacter, expected: "a host name or a URL", found: text.quotedAddress,
                remedy: "Give the host name alone, for example www.example.com.")
        }
        self = try DialedHost(url: url).withoutPort
    }

    private static func checked(_ port: Int?) throws(HostError) -> Int? {
        guard let port, !(1...65535).contains(port) else { return port }
        throw invalidPort(found: "\(port)")
    }

    private static func invalidPort(found: String) -> HostError {
        HostError(
            .invalidPort, expected: "a port from 1 to 65535", found: found, remedy: "Give the port that is dialed.")
    }

    /// The host without its port: the name, or the address in its canonical spelling (RFC 5952 for IPv6), without
    /// brackets.
    public var name: String {
        switch kind {
        case .name(let name): name
        case .ipv4(let octets): AddressText.ipv4(octets)
        case .ipv6(let octets): AddressText.ipv6(octets)
        }
    }

    /// The name that the client sends in the handshake (server name indication, RFC 6066 3); nil for an address.
    public var serverNameIndication: String? {
        if case .name(let name) = kind { name } else { nil }
    }

    /// The bytes of the address, as an iPAddress name of a certificate has them (RFC 5280 4.2.1.6); nil for a name.
    public var addressOctets: [UInt8]? {
        switch kind {
        case .name: nil
        case .ipv4(let octets), .ipv6(let octets): octets
        }
    }

    /// Whether both are the same host, ignoring ports. Policies are found by host, connections by host and port.
    public func hasSameName(as other: DialedHost) -> Bool { kind == other.kind }

    /// The same host without its port.
    var withoutPort: DialedHost { DialedHost(kind: kind, port: nil) }

    /// The same host; with this port if it does not state one.
    package func withPort(orDefault port: Int) throws(HostError) -> DialedHost {
        self.port == nil ? DialedHost(kind: kind, port: try Self.checked(port)) : self
    }

    /// The host with this address.
    /// - Parameter octets: four bytes of IPv4 or sixteen of IPv6, in network order.
    package init(address octets: [UInt8]) { self.init(kind: octets.count == 4 ? .ipv4(octets) : .ipv6(octets)) }

    init(kind: Kind, port: Int? = nil) {
        self.kind = kind
        self.port = port
    }

    /// The canonical form of a name: A-labels, lower case, no trailing dot.
    ///
    /// - Throws: ``HostError``; `numericName` or `invalidAddress` if it is an address.
    static func canonicalName(_ text: String) throws(HostError) -> String { try HostText.name(of: text) }
}

extension DialedHost: CustomStringConvertible {
    /// The name or address, with the port if it is known; an IPv6 address with a port is in brackets.
    public var description: String {
        guard let port else { return name }
        if case .ipv6 = kind { return "[\(name)]:\(port)" }
        return "\(name):\(port)"
    }
}
