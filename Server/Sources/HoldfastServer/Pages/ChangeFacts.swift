import HoldfastPublishing

/// What the page of a change shows that takes long to find out, and no more of it than the page has room for.
struct ChangeFacts: Sendable {
    /// What the gates say.
    struct Answer: Sendable {
        let report: GateReport
        /// The earliest time at which the canary lets the change pass, in seconds since 1970; nil if it does not have it.
        let canaryEnd: Int64?
        /// When they were asked.
        let time: Int64
    }

    /// What the change does to the content that it replaces, in words.
    let difference: [String]
    /// How clients fare with it, as it was stored; nil if that cannot be read.
    let outlook: StoredOutlook?
    /// What nobody announced, in words; empty for a change that has ended.
    let unannounced: [String]
    /// Where the pins come from that it adds, in words; empty for a change that has ended.
    let origins: [String]
    /// What the gates say; nil for a change that has ended.
    let answer: Answer?

    /// More rows than anybody compares.
    static let maximumRowCount = 500

    /// Shortens everything.
    /// - Parameters:
    ///   - change: the change.
    ///   - base: what it replaces; nil before the first publication.
    ///   - unannounced: what nobody announced, in words.
    ///   - origins: where the pins come from that it adds, in words.
    ///   - answer: what the gates say; nil for a change that has ended.
    init(of change: Change, replacing base: Content?, unannounced: [String], origins: [String] = [], _ answer: Answer?)
    {
        difference = Self.shortened(ContentDifference(from: base, to: change.content).lines)
        outlook = (try? StoredOutlook(change.outlook))?.shortened(to: Self.maximumRowCount)
        self.unannounced = Self.shortened(unannounced)
        self.origins = Self.shortened(origins)
        self.answer = answer
    }

    /// What a page has room for.
    static func shortened(_ lines: [String]) -> [String] {
        guard lines.count > maximumRowCount else { return lines }
        return lines.prefix(maximumRowCount) + ["and \(lines.count - maximumRowCount) more"]
    }
}
