import Crypto
import Synchronization

/// What may be signed for strangers: a rate for each source, a share for each app, and a ceiling for all together. A
/// signature costs more than all else that a request does, so without this one client could keep the server from
/// answering the others.
public final class SigningBudget: Sendable {
    /// Why nothing is signed.
    enum Refusal: Sendable, Hashable {
        /// The source has to wait for so many whole seconds.
        case source(seconds: Int)
        /// The app has had its share, or everything is taken.
        case busy
    }

    private struct State {
        var sources: SourceBuckets
        var apps: AppShares
    }

    /// Signatures in a second for all clients together.
    public let ceiling: Double
    private let state: Mutex<State>

    /// The part of the ceiling that one source can have: it takes eight sources to fill it, and no carrier whose
    /// customers share an address is cut off by accident.
    static let sourceShare = 1.0 / 8
    /// How many seconds of its rate a source can have saved: half of what all can have in one window of ``AppShares``, so
    /// that nobody who was silent for long fills one.
    static let burstSeconds = 0.4

    /// Makes a budget.
    /// - Parameter ceiling: signatures in a second for all clients together, at least 8.
    public init(ceiling: Double) {
        self.ceiling = max(8, ceiling)
        let rate = self.ceiling * Self.sourceShare
        state = Mutex(
            State(
                sources: SourceBuckets(rate: rate, burst: max(1, rate * Self.burstSeconds)),
                apps: AppShares(ceiling: self.ceiling)))
    }

    /// Takes a signature.
    /// - Returns: nil if it may be made.
    func take(_ app: AppName, for source: SourcePrefix, at now: UInt64) -> Refusal? {
        state.withLock { state in
            if let wait = state.sources.take(source, at: now) { return .source(seconds: Int(wait.rounded(.up))) }
            return state.apps.take(app, at: now) ? nil : .busy
        }
    }

    /// Finds out how much this machine can sign, by signing for a moment.
    /// - Parameters:
    ///   - threads: how many threads answer clients.
    ///   - span: how long to sign.
    /// - Returns: half of what the threads could sign if they did nothing else; the other half is for reading requests
    ///   and writing answers.
    public static func measuredCeiling(threads: Int, within span: Duration = .milliseconds(50)) -> Double {
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
