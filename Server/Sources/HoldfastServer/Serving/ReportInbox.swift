/// What clients of all apps report: what waits to be read, and what became of the rest. One for a server, shared by its
/// listeners and what reads.
public struct ReportInbox: Sendable {
    let intake: ReportIntake
    let counters = ReportCounters()

    /// Takes nothing before somebody reads.
    public init() { intake = ReportIntake(counters: counters) }

    /// What was counted, as families of Prometheus.
    var families: [MetricsText.Family] { counters.families(waiting: intake.count) }
}
