package import ServerHTTP

/// The client reports of all apps: the queue and the counters. A server has one, shared by its listeners and the
/// reader.
package struct ReportInbox: Sendable {
    package let intake: ReportIntake
    package let counters = ReportCounters()

    /// Creates an inbox that takes no reports until a reader starts.
    package init() { intake = ReportIntake(counters: counters) }

    /// The counters as Prometheus metric families.
    package var families: [MetricsText.Family] { counters.families(waiting: intake.count) }
}
