import Foundation
import Holdfast

/// The parts of an answer of `/app/init` that are the same for every client, as JSON.
struct InitParts: Sendable, Hashable {
    /// `"fingerprints":[…]`.
    let fingerprints: [UInt8]
    /// `,"domainsConfig":{…}`, or nothing.
    let domains: [UInt8]

    init(_ entries: [FingerprintEntry], _ domains: ContentDomains?) {
        let list = entries.map { entry in
            let depth = entry.depth > 0 ? ",\"depth\":\(entry.depth)" : ""
            let name = String(decoding: CanonicalJSON.text(entry.name).octets, as: UTF8.self)
            // The last second for which it counts, as the format has it.
            let expires = Int64(entry.end.timeIntervalSince1970) - 1
            return #"{"name":\#(name),"fingerprint":"\#(entry.fingerprint)","expires":\#(expires)\#(depth)}"#
        }
        fingerprints = Array(#""fingerprints":[\#(list.joined(separator: ","))]"#.utf8)
        self.domains = Array((domains.map(Self.json) ?? "").utf8)
    }

    private static func json(_ domains: ContentDomains) -> String {
        let list = domains.domains.map { domain in
            let name = String(decoding: CanonicalJSON.text(domain.name).octets, as: UTF8.self)
            return #"{"name":\#(name),"sslPinningRequired":\#(domain.needsPins)}"#
        }
        return #","domainsConfig":{"sslPinningRequiredForUnlisted":\#(domains.unlistedNeedPins),"domains":"#
            + "[\(list.joined(separator: ","))]}"
    }
}
