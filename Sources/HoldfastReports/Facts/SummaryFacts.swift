/// The content of a summary of one day (after RFC 8460).
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
        /// Connections that a pin accepted, among the sampled ones.
        var successes = 0
        /// Sampled connections without a valid pin: rejected, or accepted without one.
        var failures = 0
        var details: [Failures] = []
    }

    /// The day, counted from 1970-01-01 in UTC.
    let day: Int64
    let application: ReportedApplication
    let places: [Place]
}
