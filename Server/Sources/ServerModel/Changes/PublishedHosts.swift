package import Holdfast

/// The hosts of a content, indexed by name and port.
package struct PublishedHosts: Sendable {
    private let exact: [String: ContentHost]
    private let patterns: [(pattern: HostPattern, host: ContentHost)]
    package let count: Int

    package init(_ hosts: [ContentHost]) {
        exact = Dictionary(hosts.map { ("\($0.name):\($0.port)", $0) }) { first, _ in first }
        patterns = hosts.filter { $0.name.utf8.first == UInt8(ascii: "*") }.compactMap { host in
            (try? HostPattern(host.name)).map { ($0, host) }
        }
        count = hosts.count
    }

    /// The published host with the exact name of a host; nil if it does not exist.
    package func named(_ host: CatalogHost) -> ContentHost? { exact[host.label] }

    /// The published entry for a host, by name or pattern; nil if it does not exist.
    package func host(_ host: CatalogHost, dialed: DialedHost) -> ContentHost? {
        exact[host.label] ?? patterns.first { $0.host.port == host.port && $0.pattern.matches(dialed) }?.host
    }

    /// The published entry for a host, by name or pattern; nil if it does not exist.
    package func pins(of host: CatalogHost) -> ContentHost? {
        guard let dialed = try? DialedHost(host.name, port: Int(host.port)) else { return named(host) }
        return self.host(host, dialed: dialed)
    }
}
