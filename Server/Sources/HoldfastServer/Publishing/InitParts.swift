import Foundation
import Holdfast

/// The parts of an answer of `/app/init` that are the same for every client, as JSON.
struct InitParts: Sendable, Hashable {
    /// `"fingerprints":[…]`.
    let fingerprints: [UInt8]
    /// `,"domainsConfig":{…}`, or nothing.
    let domains: [UInt8]

    init(_ entries: [FingerprintEntry], _ domains: ContentDomains?) {
        // Octet by octet, since a server may have a hundred thousand entries when it starts.
        var octets = Array(#""fingerprints":["#.utf8)
        for (index, entry) in entries.enumerated() {
            octets += (index > 0 ? #",{"name":"# : #"{"name":"#).utf8
            octets += CanonicalJSON.text(entry.name).octets
            octets += #","fingerprint":""#.utf8
            octets += entry.fingerprint.utf8
            octets += #"","expires":"#.utf8
            // The last second for which it counts, as the format has it.
            octets += String(Int64(entry.end.timeIntervalSince1970) - 1).utf8
            if entry.depth > 0 { octets += ",\"depth\":\(entry.depth)".utf8 }
            octets.append(UInt8(ascii: "}"))
        }
        octets.append(UInt8(ascii: "]"))
        fingerprints = octets
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
