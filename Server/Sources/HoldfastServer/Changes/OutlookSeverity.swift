import Foundation
import Holdfast
import HoldfastPublishing

/// How bad an outlook is for each kind of client at each host, so that a fresh one can be compared with the one that
/// approvers saw.
struct OutlookSeverity {
    private var severities: [String: Int] = [:]
    /// Whether it is of a change that only a canary had yet.
    private let isBeforeCanary: Bool

    init(_ outlook: PublicationOutlook) {
        isBeforeCanary = outlook.documentNames.contains(where: OutlookMaker.isKept)
        for row in outlook.rows {
            add(row.host ?? "", row.client?.rawValue ?? "", row.holders.rawValue, row.verdict.rawValue)
        }
    }

    /// Reads what ``PublicationOutlook/json`` writes.
    /// - Throws: ``ServerError`` `malformed`.
    init(json: [UInt8]) throws(ServerError) {
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
        // What is unknown stops a change, but says nothing about who gets in.
        let severity = verdict == "out" ? 2 : verdict == "ending" ? 1 : 0
        guard holders != PublicationOutlook.Holders.older.rawValue else { return }
        let key = "\(client) clients at \(host), \(holders)"
        severities[key] = max(severities[key] ?? 0, severity)
    }

    /// What approvers saw of these clients. Whoever holds what a change replaces gets in until that ends. Before a canary
    /// it was still renewed for a day, so that is no news after it; a lock-out is.
    private func seen(_ key: String) -> Int {
        let seen = severities[key] ?? 0
        let isReplaced = key.hasSuffix(", \(PublicationOutlook.Holders.replaced.rawValue)")
        return isBeforeCanary && isReplaced ? max(seen, 1) : seen
    }

    /// What is worse than in an earlier outlook, in words.
    func worse(than before: OutlookSeverity) -> [String] {
        let words = ["get in", "get in until some time", "are locked out"]
        return severities.filter { $0.value > before.seen($0.key) }
            .map { "\($0.key): \(words[$0.value]), where approvers saw that they \(words[before.seen($0.key)])" }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
