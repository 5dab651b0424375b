package import HostMonitoring
package import ServerFoundation
import ServerHTTP
import Synchronization

/// Counts the outcomes of reports, and keeps their latest figures, for `/metrics`.
package final class ReportCounters: Sendable {
    /// The outcome of a report.
    enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It was counted.
        case counted
        /// It is about a host that the app does not have.
        case unlisted
        /// It is about a topic other than TLS.
        case ignored
        /// It is not a valid report.
        case malformed
        /// No app of this name takes reports.
        case unknown
        /// Its source or its app sent too many reports.
        case rate
        /// The queue was full.
        case shed
    }

    private struct State {
        var outcomes: [Outcome: Int] = [:]
        var standings: [AppName: ReportStanding] = [:]
    }

    private let state = Mutex(State())

    /// Creates counters at zero.
    init() {}

    func count(_ outcome: Outcome, times: Int = 1) {
        state.withLock { $0.outcomes[outcome, default: 0] += times }
    }

    /// The number of reports with an outcome.
    func count(of outcome: Outcome) -> Int { state.withLock { $0.outcomes[outcome] ?? 0 } }

    package func set(_ standings: [AppName: ReportStanding]) { state.withLock { $0.standings = standings } }

    /// The counters as Prometheus metric families.
    /// - Parameter waiting: the number of unread reports.
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
                "holdfast_reported", .gauge, "Reports of the last 24 hours. Reports can be forged.",
                samples { Double($0.reports) }),
            MetricsText.Family(
                "holdfast_reported_failure_ratio", .gauge,
                "Failures of the connections that reports of the last 24 hours stand for.", samples(\.value)),
            MetricsText.Family(
                "holdfast_reported_strangers", .gauge,
                "Certificates that clients reported in the last 24 hours and that the watcher never saw.",
                apps.map { .init([("app", "\($0)")], Double($1.strangers.count)) }),
            MetricsText.Family(
                "holdfast_canary_held_by_reports", .gauge,
                "Whether client reports hold the canary of the app. Reports can be forged.",
                apps.map { .init([("app", "\($0)")], $1.holdsCanary ? 1 : 0) }),
        ]
    }
}
