import Holdfast

/// The hosts of a content, to find one without going through all.
struct PublishedHosts: Sendable {
    private let exact: [String: ContentHost]
    private let patterns: [(pattern: HostPattern, host: ContentHost)]
    let count: Int

    init(_ hosts: [ContentHost]) {
        exact = Dictionary(hosts.map { ("\($0.name):\($0.port)", $0) }) { first, _ in first }
        patterns = hosts.filter { $0.name.utf8.first == UInt8(ascii: "*") }.compactMap { host in
            (try? HostPattern(host.name)).map { ($0, host) }
        }
        count = hosts.count
    }

    /// What is published under the very name of a host; nil if nothing is.
    func named(_ host: CatalogHost) -> ContentHost? { exact[host.label] }

    /// What is published for a host, be it by a pattern; nil if nothing is.
    func host(_ host: CatalogHost, dialed: DialedHost) -> ContentHost? {
        exact[host.label] ?? patterns.first { $0.host.port == host.port && $0.pattern.matches(dialed) }?.host
    }

    /// What is published for a host, be it by a pattern; nil if nothing is.
    func pins(of host: CatalogHost) -> ContentHost? {
        guard let dialed = try? DialedHost(host.name, port: Int(host.port)) else { return named(host) }
        return self.host(host, dialed: dialed)
    }
}
