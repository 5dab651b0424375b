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
    /// When a vantage had seen an app's hosts last, in seconds since 1970: by its name.
    private(set) var silences: [Ledger.Name: Int64] = [:]

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
            let name = "\(try facts.text("host")) \(try facts.digest("digest"))"
            disagreements[.init(app: try facts.app(), name: name)] = Disagreement(vantages: vantages, time: time)
            return true
        }
        guard facts.has("vantage") else { return false }
        let (vantage, since) = (try facts.text("vantage"), try facts.number("since"))
        guard Vantage.isName(vantage) else { throw facts.impossible("the name of a vantage") }
        silences[.init(app: try facts.app(), name: vantage)] = since
        return true
    }

    /// Whether a disagreement was said, and so lately that it is not said again.
    func has(_ name: Ledger.Name, at now: Int64) -> Bool {
        disagreements[name].map { $0.time >= now - Catalog.alarmSpan } ?? false
    }
}
