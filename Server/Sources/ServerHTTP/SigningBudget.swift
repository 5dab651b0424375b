import Crypto
package import ServerFoundation
import Synchronization

/// Limits signatures for anonymous clients: a rate per source, a share per app, and a ceiling for all. A signature
/// costs more than the rest of a request, so without this limit one client could block all others.
package final class SigningBudget: Sendable {
    /// The reason why nothing is signed.
    package enum Refusal: Sendable, Hashable {
        /// The source must wait for so many whole seconds.
        case source(seconds: Int)
        /// The app has used its share, or all capacity is used.
        case busy
    }

    private struct State {
        var sources: SourceBuckets
        var apps: AppShares
    }

    /// Maximum number of signatures per second for all clients together.
    package let ceiling: Double
    private let state: Mutex<State>

    /// The part of the ceiling that one source may use: eight sources can fill it, and a carrier whose customers share
    /// an address is not cut off by accident.
    static let sourceShare = 1.0 / 8
    /// The number of seconds of its rate that a source can save: half of one window of ``AppShares``, so that a source
    /// that was silent for long cannot fill a window.
    static let burstSeconds = 0.4

    /// Makes a budget.
    /// - Parameter ceiling: the number of signatures per second for all clients together, at least 8.
    package init(ceiling: Double) {
        self.ceiling = max(8, ceiling)
        let rate = self.ceiling * Self.sourceShare
        state = Mutex(
            State(
                sources: SourceBuckets(rate: rate, burst: max(1, rate * Self.burstSeconds)),
                apps: AppShares(ceiling: self.ceiling)))
    }

    /// Takes a signature from the budget.
    /// - Returns: nil if it may be made.
    package func take(_ app: AppName, for source: SourcePrefix, at now: UInt64) -> Refusal? {
        state.withLock { state in
            if let wait = state.sources.take(source, at: now) { return .source(seconds: Int(wait.rounded(.up))) }
            return state.apps.take(app, at: now) ? nil : .busy
        }
    }

    /// Measures how many signatures this machine can make, by signing for a moment.
    /// - Parameters:
    ///   - threads: the number of threads that answer clients.
    ///   - span: the duration of the measurement.
    /// - Returns: half of the signatures per second that the threads could make; the other half of the time is for
    ///   requests and responses.
    package static func measuredCeiling(threads: Int, within span: Duration = .milliseconds(50)) -> Double {
        let key = P256.Signing.PrivateKey()
        let message = [UInt8](repeating: 0x20, count: 1_024)
        let begin = ContinuousClock.now
        var count = 0
        while count == 0 || ContinuousClock.now - begin < span {
            guard (try? key.signature(for: message)) != nil else { break }
            count += 1
        }
        let elapsed = ContinuousClock.now - begin
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return max(8, Double(count) / max(seconds, 1e-6) * Double(max(1, threads)) / 2)
    }
}
