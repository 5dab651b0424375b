import Foundation
import Holdfast
package import HoldfastPublishing
package import ServerFoundation

/// The severity of an outlook for each kind of client at each host, to compare a new one with the one that approvers
/// saw.
package struct OutlookSeverity {
    private var severities: [String: Int] = [:]
    /// Whether the outlook was made while only a canary had the change.
    private let isBeforeCanary: Bool

    package init(_ outlook: PublicationOutlook) {
        isBeforeCanary = outlook.documentNames.contains(where: OutlookMaker.isKept)
        for row in outlook.rows {
            add(row.host ?? "", row.client?.rawValue ?? "", row.holders.rawValue, row.verdict.rawValue)
        }
    }

    /// Reads what ``PublicationOutlook/json`` writes.
    /// - Throws: ``ServerError`` `malformed`.
    package init(json: [UInt8]) throws(ServerError) {
        guard let document = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any],
            let rows = document["rows"] as? [[String: Any]]
        else { throw ServerError(.malformed, of: "outlook", expected: "the JSON of an outlook", found: "another text") }
        let documents = (document["inputs"] as? [String: Any])?["documents"] as? [[String: Any]]
        isBeforeCanary = documents?.contains { OutlookMaker.isKept($0["name"] as? String ?? "") } ?? false
        for row in rows {
            func text(_ key: String) -> String { row[key] as? String ?? "" }
            add(text("dialed"), text("client"), text("holders"), text("verdict"))
        }
    }

    private mutating func add(_ host: String, _ client: String, _ holders: String, _ verdict: String) {
        // An unknown result stops a change, but does not show whether clients can connect.
        let severity = verdict == "out" ? 2 : verdict == "ending" ? 1 : 0
        guard holders != PublicationOutlook.Holders.older.rawValue else { return }
        let key = "\(client) clients at \(host), \(holders)"
        severities[key] = max(severities[key] ?? 0, severity)
    }

    /// The severity that approvers saw for these clients. Clients with a replaced document can connect until that ends.
    /// Before a canary it was still renewed for a day, so this is not worse afterwards; a lockout is.
    private func seen(_ key: String) -> Int {
        let seen = severities[key] ?? 0
        let isReplaced = key.hasSuffix(", \(PublicationOutlook.Holders.replaced.rawValue)")
        return isBeforeCanary && isReplaced ? max(seen, 1) : seen
    }

    /// Descriptions of the results that are worse than in an earlier outlook.
    package func worse(than before: OutlookSeverity) -> [String] {
        let words = ["can connect", "can connect for a limited time", "are locked out"]
        return severities.filter { $0.value > before.seen($0.key) }
            .map { "\($0.key): \(words[$0.value]), where approvers saw that they \(words[before.seen($0.key)])" }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
