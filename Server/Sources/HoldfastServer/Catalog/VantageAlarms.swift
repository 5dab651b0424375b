/// What the audit says about vantages: which disagreed about a host, and which have seen nothing for long.
struct VantageAlarms: Sendable {
    /// Vantages that saw different keys of a host.
    struct Disagreement: Sendable, Hashable {
        /// Their names, sorted, with commas.
        let vantages: String
        /// When that was said, in seconds since 1970.
        let time: Int64
    }

    /// By the label of the host and the digest of who saw what.
    private(set) var disagreements: [Ledger.Name: Disagreement] = [:]
    /// When each was raised, of each host the newest only.
    private(set) var marks = HostMarks()
    /// When a vantage had seen an app's hosts last, in seconds since 1970: by its name.
    private(set) var silences: [Ledger.Name: Int64] = [:]
    private var silenceMarks = HostMarks()

    private static let separator: Character = ","

    static func text(_ vantages: [String]) -> String { vantages.joined(separator: String(separator)) }

    /// Takes an alarm.
    /// - Returns: whether it is about vantages.
    mutating func take(_ facts: EntryFacts, at time: Int64) throws(ServerError) -> Bool {
        if facts.has("vantages") {
            let vantages = try facts.text("vantages")
            guard vantages.split(separator: Self.separator).allSatisfy({ Vantage.isName(String($0)) }) else {
                throw facts.impossible("names of vantages")
            }
            let host = Ledger.Name(app: try facts.app(), name: try facts.text("host"))
            let name = Ledger.Name(app: host.app, name: "\(host.name) \(try facts.digest("digest"))")
            disagreements[name] = Disagreement(vantages: vantages, time: time)
            if let oldest = marks.take(name, of: host, at: time) { disagreements[oldest] = nil }
            return true
        }
        guard facts.has("vantage") else { return false }
        let (vantage, since) = (try facts.text("vantage"), try facts.number("since"))
        guard Vantage.isName(vantage) else { throw facts.impossible("the name of a vantage") }
        let app = try facts.app()
        let name = Ledger.Name(app: app, name: vantage)
        silences[name] = since
        // Vantages are named by those who look, so an app has no more of them than a host has alerts.
        if let oldest = silenceMarks.take(name, of: Ledger.Name(app: app, name: ""), at: time) {
            silences[oldest] = nil
        }
        return true
    }

    /// Whether a disagreement was said, and so lately that it is not said again.
    func has(_ name: Ledger.Name, at now: Int64) -> Bool {
        disagreements[name].map { $0.time >= now - Catalog.alarmSpan } ?? false
    }
}
