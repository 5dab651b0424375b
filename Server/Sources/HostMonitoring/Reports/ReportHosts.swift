import Holdfast

/// The hosts of an app whose reports are counted, by label. Unknown hosts have no label.
package struct ReportHosts: Sendable {
    private let exact: [String: [(port: Int64, label: String)]]
    /// The versions of the app's canary; nil if it has none.
    package var canary: CanaryVersions?
    private let patterns: [(pattern: HostPattern, port: Int64, label: String)]

    /// The label for all unknown hosts.
    package static let unlisted = "-"

    /// An empty set of hosts.
    package static let none = ReportHosts([])

    /// - Parameter hosts: names or patterns, with their ports; if two have the same label, the first one counts.
    package init(_ hosts: [(name: String, port: Int64)]) {
        var exact: [String: [(port: Int64, label: String)]] = [:]
        var patterns: [(pattern: HostPattern, port: Int64, label: String)] = []
        for host in hosts {
            let label = "\(host.name):\(host.port)"
            guard exact[host.name]?.contains(where: { $0.port == host.port }) != true else { continue }
            exact[host.name, default: []].append((host.port, label))
            guard host.name.utf8.first == UInt8(ascii: "*"), let pattern = try? HostPattern(host.name) else { continue }
            patterns.append((pattern, host.port, label))
        }
        self.exact = exact
        self.patterns = patterns
    }

    /// The label for a report; nil if the app has no such host.
    package func label(of report: ClientReport) -> String? {
        // Clients that make their own connections report no port.
        let port = report.port.flatMap { $0 == 0 ? nil : $0 }
        func named(_ name: String) -> String? {
            let found = exact[name] ?? []
            guard let port else { return found.first?.label }
            return found.first { $0.port == port }?.label
        }
        if let label = named(report.host) { return label }
        if let dialed = try? DialedHost(report.host, port: Int(port ?? 443)),
            let found = patterns.first(where: { $0.pattern.matches(dialed) && (port == nil || $0.port == port) })
        {
            return found.label
        }
        // A report may contain only the pattern, as the name for which its pins were noted.
        return report.notedHost.flatMap { named($0) ?? named("*.\($0)") ?? named("**.\($0)") }
    }
}
