import Synchronization

/// Counts the responses of the public listener. The values of labels are few and fixed; input from clients never
/// becomes one.
package final class ListenerCounters: Sendable {
    /// The kinds of requests.
    package enum Route: String, Sendable, Hashable, CaseIterable {
        case challenge, publicKey = "public-key", document, report, health, other
    }

    private struct Kind: Hashable {
        let route: Route
        let status: UInt
    }

    private struct State {
        var answers: [Kind: Int] = [:]
        var signatures = 0
        var refusedSources = 0
        var refusedBusy = 0
        var refusedConnections = 0
        var evictedConnections = 0
        var handshakes = 0
        var refusedHandshakes = 0
        var connections = 0
    }

    private let state = Mutex(State())

    /// Creates counters at zero.
    package init() {}

    package func count(_ route: Route, status: UInt) {
        state.withLock { $0.answers[Kind(route: route, status: status), default: 0] += 1 }
    }

    package func countSignature() { state.withLock { $0.signatures += 1 } }

    package func count(_ refusal: SigningBudget.Refusal) {
        state.withLock { state in
            switch refusal {
            case .source: state.refusedSources += 1
            case .busy: state.refusedBusy += 1
            }
        }
    }

    func countRefusedConnection() { state.withLock { $0.refusedConnections += 1 } }
    func countEvictedConnection() { state.withLock { $0.evictedConnections += 1 } }
    func countHandshake() { state.withLock { $0.handshakes += 1 } }
    func countRefusedHandshake() { state.withLock { $0.refusedHandshakes += 1 } }
    package func set(connections: Int) { state.withLock { $0.connections = connections } }

    /// The counters as Prometheus metric families.
    package var families: [MetricsText.Family] {
        let state = state.withLock { $0 }
        let answers = state.answers.sorted {
            ($0.key.route.rawValue, $0.key.status) < ($1.key.route.rawValue, $1.key.status)
        }
        return [
            MetricsText.Family(
                "holdfast_answers_total", .counter, "Answers of the public listener.",
                answers.map { kind, count in
                    .init([("route", kind.route.rawValue), ("status", "\(kind.status)")], Double(count))
                }),
            MetricsText.Family(
                "holdfast_signatures_total", .counter, "Answers that were signed for a challenge.",
                [.init([], Double(state.signatures))]),
            MetricsText.Family(
                "holdfast_signatures_refused_total", .counter, "Answers that were not signed, by the limit.",
                [
                    .init([("limit", "source")], Double(state.refusedSources)),
                    .init([("limit", "ceiling")], Double(state.refusedBusy)),
                ]),
            MetricsText.Family(
                "holdfast_connections_refused_total", .counter, "Connections beyond the limits.",
                [.init([], Double(state.refusedConnections))]),
            MetricsText.Family(
                "holdfast_connections_evicted_total", .counter,
                "Connections of the networks with the most that ended for others.",
                [.init([], Double(state.evictedConnections))]),
            MetricsText.Family(
                "holdfast_handshakes_total", .counter, "TLS handshakes that clients could begin.",
                [.init([], Double(state.handshakes))]),
            MetricsText.Family(
                "holdfast_handshakes_refused_total", .counter, "Connections whose source began too many handshakes.",
                [.init([], Double(state.refusedHandshakes))]),
            MetricsText.Family(
                "holdfast_connections", .gauge, "Open connections of the public listener.",
                [.init([], Double(state.connections))]),
        ]
    }
}
