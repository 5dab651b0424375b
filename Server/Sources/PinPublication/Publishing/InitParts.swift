import Foundation
import Holdfast
import ServerFoundation
import ServerModel

/// The parts of an answer of `/app/init` that are the same for every client, as JSON.
package struct InitParts: Sendable, Hashable {
    /// `"fingerprints":[…]`.
    let fingerprints: [UInt8]
    /// `,"domainsConfig":{…}`, or nothing.
    let domains: [UInt8]

    init(_ entries: [FingerprintEntry], _ domains: ContentDomains?) {
        // Built byte by byte, because a server may have a hundred thousand entries when it starts.
        var bytes = Array(#""fingerprints":["#.utf8)
        for (index, entry) in entries.enumerated() {
            bytes += (index > 0 ? #",{"name":"# : #"{"name":"#).utf8
            bytes += CanonicalJSON.text(entry.name).bytes
            bytes += #","fingerprint":""#.utf8
            bytes += entry.fingerprint.utf8
            bytes += #"","expires":"#.utf8
            // The format states the last valid second.
            bytes += String(Int64(entry.end.timeIntervalSince1970) - 1).utf8
            if entry.depth > 0 { bytes += ",\"depth\":\(entry.depth)".utf8 }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        fingerprints = bytes
        self.domains = Array((domains.map(Self.json) ?? "").utf8)
    }

    private static func json(_ domains: ContentDomains) -> String {
        let list = domains.domains.map { domain in
            let name = String(decoding: CanonicalJSON.text(domain.name).bytes, as: UTF8.self)
            return #"{"name":\#(name),"sslPinningRequired":\#(domain.needsPins)}"#
        }
        return #","domainsConfig":{"sslPinningRequiredForUnlisted":\#(domains.unlistedNeedPins),"domains":"#
            + "[\(list.joined(separator: ","))]}"
    }
}
