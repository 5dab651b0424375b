import Holdfast

/// The hosts of an app about which reports are counted, each under its label. Invented hosts have none.
struct ReportHosts: Sendable {
    private let exact: [String: [(port: Int64, label: String)]]
    /// The versions of the app's canary; nil if it has none.
    var canary: CanaryVersions?
    private let patterns: [(pattern: HostPattern, port: Int64, label: String)]

    /// What hosts are counted under that the app does not have.
    static let unlisted = "-"

    /// No host.
    static let none = ReportHosts([])

    /// - Parameter hosts: names or patterns, with their ports; of two with one label the first counts.
    init(_ hosts: [(name: String, port: Int64)]) {
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

    /// The label under which a report is counted; nil if the app has no such host.
    func label(of report: ClientReport) -> String? {
        // Clients that connect by themselves say no port.
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
        // A report may say the pattern only, by the name that it has.
        return report.notedHost.flatMap { named($0) ?? named("*.\($0)") ?? named("**.\($0)") }
    }
}
