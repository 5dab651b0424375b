import Foundation
import Holdfast

extension AppSnapshot {
    /// More sentences than anybody reads.
    private static let maximumCount = 16

    /// The servers that show a certificate that has expired, in words. Nobody whom they answer gets in, and no change can
    /// help: that is why no gate refuses one for it, and why it has to be said.
    var expiredServers: [String] {
        let time = OutlookMaker.date(now)
        var all: [String] = []
        for host in hosts {
            func isOver(_ seen: Observation) -> Bool {
                seen.chain?.leaf.map { $0.notAfter.addingTimeInterval(1) <= time } ?? false
            }
            let isForgotten = host.shown.contains { $0.chain != nil && !isOver($0) }
            for seen in host.shown where isOver(seen) {
                guard let leaf = seen.chain?.leaf else { continue }
                let rest =
                    isForgotten
                    ? "other addresses show one that lasts, so this server was forgotten: install that one there"
                    : "install the next certificate"
                all.append(
                    "\(host.host.label) at \(seen.address) shows a certificate that expired after "
                        + "\(leaf.notAfter.formatted(.iso8601)), and lets nobody in; \(rest)")
            }
        }
        let count = all.count
        return count > Self.maximumCount
            ? Array(all.prefix(Self.maximumCount)) + ["and \(count - Self.maximumCount) more"] : all
    }
}
