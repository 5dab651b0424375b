import Foundation
import Holdfast
import PinChanges
import ServerModel

extension AppSnapshot {
    /// Maximum number of sentences.
    private static let maximumCount = 16

    /// The servers that present an expired certificate, as text. Their clients are locked out, and no change can help.
    /// So no gate refuses a change for it, and an alert is needed.
    package var expiredServers: [String] {
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
                    ? "other addresses present a certificate that has not expired, so this server was forgotten: "
                        + "install that certificate there"
                    : "install the next certificate"
                all.append(
                    "\(host.host.label) at \(seen.address) presents a certificate that expired after "
                        + "\(leaf.notAfter.formatted(.iso8601)), so all its clients are locked out; \(rest)")
            }
        }
        let count = all.count
        return count > Self.maximumCount
            ? Array(all.prefix(Self.maximumCount)) + ["and \(count - Self.maximumCount) more"] : all
    }
}
