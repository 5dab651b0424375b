/// What a summary of one day says (after RFC 8460).
struct SummaryFacts: Codable, Hashable, Sendable {
    /// Failures of one kind.
    struct Failures: Codable, Hashable, Sendable {
        let code: String
        let outcome: ReportOutcome
        var count: Int
    }

    /// A host under one version of a document.
    struct Place: Codable, Hashable, Sendable {
        let host: String
        let documentVersion: String
        let failureFraction: Double
        let successFraction: Double
        /// Connections that were let in by a pin, as far as they were sampled.
        var successes = 0
        /// Connections without a pin that counts, as far as they were sampled: rejected, or let in without one.
        var failures = 0
        var details: [Failures] = []
    }

    /// The day, counted from 1970-01-01 in UTC.
    let day: Int64
    let application: ReportedApplication
    let places: [Place]
}
