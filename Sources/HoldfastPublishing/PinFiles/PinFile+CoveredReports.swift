import Foundation
public import Holdfast

extension PinFile {
    /// A host whose failures are to be reported to a server that the file itself pins: if its pins are wrong, the report
    /// about it fails as well. A reporter of the library refuses such a destination (`coveredDestination`).
    public struct CoveredReport: Sendable, Hashable {
        /// The entry with the address.
        public let pattern: HostPattern
        /// The host of the address.
        public let destination: DialedHost
        /// The entry that covers that host.
        public let cover: HostPattern

        /// What is wrong and what to do, in one sentence.
        public var text: String {
            "\(pattern): it reports to \(destination), which the pins of \(cover) cover: if they are wrong, no report "
                + "arrives, and the library refuses the address (coveredDestination). Report to a host that no pin covers"
        }
    }

    /// The hosts that report to a server that the file itself pins, in the order of the file. Each destination costs at
    /// most two look-ups for each of its labels.
    public var coveredReports: [CoveredReport] {
        guard hosts.contains(where: { $0.report != nil }) else { return [] }
        let entries = Dictionary(hosts.map { ($0.pattern, $0.ports) }) { $0.isEmpty || $1.isEmpty ? [] : $0 + $1 }
        return hosts.compactMap { host in
            guard let url = host.report?.url, let destination = URL(string: url).flatMap({ try? DialedHost(url: $0) }),
                let cover = Self.cover(of: destination, among: entries)
            else { return nil }
            return CoveredReport(pattern: host.pattern, destination: destination, cover: cover)
        }
    }

    private static func cover(of host: DialedHost, among entries: [HostPattern: [Int]]) -> HostPattern? {
        func covers(_ pattern: HostPattern?) -> Bool {
            guard let pattern, let ports = entries[pattern] else { return false }
            return ports.isEmpty || ports.contains(host.port ?? 443)
        }
        let exact = HostPattern(host)
        if covers(exact) { return exact }
        guard host.addressOctets == nil else { return nil }
        var name = exact.base.name[...]
        var depth = 0
        while true {
            let oneLabel = depth == 1 ? try? HostPattern("*.\(name)", allowingTopLevel: true) : nil
            if covers(oneLabel) { return oneLabel }
            let subtree = try? HostPattern("**.\(name)", allowingTopLevel: true)
            if covers(subtree) { return subtree }
            guard let dot = name.firstIndex(of: ".") else { return nil }
            name = name[name.index(after: dot)...]
            depth += 1
        }
    }
}
