import HoldfastPublishing
import PinChanges
import ServerModel

/// The facts on the page of a change that take long to compute, limited to what the page shows.
struct ChangeFacts: Sendable {
    /// The results of the gates.
    struct Answer: Sendable {
        let report: GateReport
        /// The earliest second at which the canary lets the change pass, since 1970; nil if the canary does not have
        /// it.
        let canaryEnd: Int64?
        /// The time at which the gates ran.
        let time: Int64
    }

    /// The differences from the content that the change replaces, as text.
    let difference: [String]
    /// The outlook for clients, as it was stored; nil if it cannot be read.
    let outlook: StoredOutlook?
    /// The unannounced pins, as text; empty for a change that has ended.
    let unannounced: [String]
    /// The origins of the pins that the change adds, as text; empty for a change that has ended.
    let origins: [String]
    /// The results of the gates; nil for a change that has ended.
    let answer: Answer?

    /// Maximum number of rows.
    static let maximumRowCount = 500

    /// Creates the facts with all lists shortened.
    /// - Parameters:
    ///   - change: the change.
    ///   - base: the content that it replaces; nil before the first publication.
    ///   - unannounced: the unannounced pins, as text.
    ///   - origins: the origins of the pins that it adds, as text.
    ///   - answer: the results of the gates; nil for a change that has ended.
    init(of change: Change, replacing base: Content?, unannounced: [String], origins: [String] = [], _ answer: Answer?)
    {
        difference = Self.shortened(ContentDifference(from: base, to: change.content).lines)
        outlook = (try? StoredOutlook(change.outlook))?.shortened(to: Self.maximumRowCount)
        self.unannounced = Self.shortened(unannounced)
        self.origins = Self.shortened(origins)
        self.answer = answer
    }

    /// Cuts lines at the maximum for a page.
    static func shortened(_ lines: [String]) -> [String] {
        guard lines.count > maximumRowCount else { return lines }
        return lines.prefix(maximumRowCount) + ["and \(lines.count - maximumRowCount) more"]
    }
}
