import Synchronization

/// Counts what became of reports, and keeps what clients say lately, for `/metrics`.
final class ReportCounters: Sendable {
    /// What became of a report.
    enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It was counted.
        case counted
        /// It is about a host that the app does not have.
        case unlisted
        /// It is about something else than TLS.
        case ignored
        /// It is none.
        case malformed
        /// No app of its name takes reports.
        case unknown
        /// Its source or its app had sent too many.
        case rate
        /// The queue was full.
        case shed
    }

    private struct State {
        var outcomes: [Outcome: Int] = [:]
        var standings: [AppName: ReportStanding] = [:]
    }

    private let state = Mutex(State())

    /// Begins at zero.
    init() {}

    func count(_ outcome: Outcome, times: Int = 1) {
        state.withLock { $0.outcomes[outcome, default: 0] += times }
    }

    /// How many there were.
    func count(of outcome: Outcome) -> Int { state.withLock { $0.outcomes[outcome] ?? 0 } }

    func set(_ standings: [AppName: ReportStanding]) { state.withLock { $0.standings = standings } }

    /// What was counted, as families of Prometheus.
    /// - Parameter waiting: how many reports have not been read.
    func families(waiting: Int) -> [MetricsText.Family] {
        let state = state.withLock { $0 }
        let apps = state.standings.sorted {
            $0.key.description.utf8.lexicographicallyPrecedes($1.key.description.utf8)
        }
        func samples(_ value: (ReportedRatio) -> Double) -> [MetricsText.Sample] {
            apps.flatMap { app, standing in
                standing.ratios.map { ratio in
                    MetricsText.Sample(
                        [
                            ("app", "\(app)"), ("audience", ratio.audience), ("host", ratio.host),
                            ("document", ratio.documentVersion),
                        ], value(ratio))
                }
            }
        }
        return [
            MetricsText.Family(
                "holdfast_reports_total", .counter, "Reports of clients, by what became of them.",
                Outcome.allCases.map { .init([("outcome", $0.rawValue)], Double(state.outcomes[$0] ?? 0)) }),
            MetricsText.Family(
                "holdfast_reports_waiting", .gauge, "Bodies with reports that have not been read.",
                [.init([], Double(waiting))]),
            MetricsText.Family(
                "holdfast_reported", .gauge, "Reports of the last 24 hours. Anybody can forge them.",
                samples { Double($0.reports) }),
            MetricsText.Family(
                "holdfast_reported_failure_ratio", .gauge,
                "Failures of the connections that reports of the last 24 hours stand for.", samples(\.value)),
            MetricsText.Family(
                "holdfast_reported_strangers", .gauge,
                "Certificates that clients reported in the last 24 hours and the watcher never saw.",
                apps.map { .init([("app", "\($0)")], Double($1.strangers.count)) }),
            MetricsText.Family(
                "holdfast_canary_held_by_reports", .gauge,
                "Whether what clients report holds the canary of the app. Anybody can forge it.",
                apps.map { .init([("app", "\($0)")], $1.holdsCanary ? 1 : 0) }),
        ]
    }
}
