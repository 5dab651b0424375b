import Foundation
public import Holdfast

extension PinFile {
    /// A host whose failures are reported to a server that the file itself pins: if its pins are wrong, the report
    /// about it fails as well. A reporter of the library refuses such a destination (`coveredDestination`).
    public struct CoveredReport: Sendable, Hashable {
        /// The entry with the address.
        public let pattern: HostPattern
        /// The host of the address.
        public let destination: DialedHost
        /// The entry that covers that host.
        public let cover: HostPattern

        /// The problem and its fix, in one sentence.
        public var text: String {
            "\(pattern): it reports to \(destination), which the pins of \(cover) cover: if they are wrong, no report "
                + "arrives, and the library refuses the address (coveredDestination). Report to a host that no pin covers"
        }
    }

    /// The hosts that report to a server that the file itself pins, in the order of the file, as the library decides
    /// for an app with this file.
    public var coveredReports: [CoveredReport] {
        guard hosts.contains(where: { $0.report != nil }) else { return [] }
        let manager = TrustManager(policies: policies())
        // Many hosts report to the same address, which is a short ASCII text.
        var known: [String: TrustManager.Cover?] = [:]
        return hosts.compactMap { host in
            guard let address = host.report?.url, let url = URL(string: address),
                let destination = try? DialedHost(url: url)
            else { return nil }
            let cover: TrustManager.Cover?
            if let found = known[address] {
                cover = found
            } else {
                // At a time before any end, because expired pins will be published again.
                cover = manager.cover(of: url, at: .distantPast)
                known[address] = .some(cover)
            }
            guard let pattern = cover?.pattern else { return nil }
            return CoveredReport(pattern: host.pattern, destination: destination, cover: pattern)
        }
    }
}
