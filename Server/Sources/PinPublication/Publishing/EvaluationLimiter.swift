import Foundation
import ServerStore
import Synchronization

/// Limits concurrent evaluations of clients. A call can keep a processor busy for seconds, because each announcement,
/// format and age of clients adds work. Calls use half of the processors, and run one at a time per token. The other
/// calls wait, and the token with the longest time since its last turn is next.
package final class EvaluationLimiter: Sendable {
    private struct Waiting {
        let token: String
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var running: Set<String> = []
        /// In order of arrival.
        var waiting: [Waiting] = []
        /// The number of each token's last turn.
        var turns: [String: Int] = [:]
        var count = 0

        /// Starts the next call, if the limit allows it.
        mutating func next(of limit: Int) -> CheckedContinuation<Void, Never>? {
            guard running.count < limit else { return nil }
            let free = waiting.indices.filter { !running.contains(waiting[$0].token) }
            guard let index = free.min(by: { turns[waiting[$0].token] ?? 0 < turns[waiting[$1].token] ?? 0 }) else {
                return nil
            }
            let next = waiting.remove(at: index)
            begin(next.token)
            return next.continuation
        }

        mutating func begin(_ token: String) {
            running.insert(token)
            count += 1
            if turns.count >= Catalog.maximumTokenCount { turns = [:] }
            turns[token] = count
        }
    }

    /// Maximum number of waiting calls of a token. Further calls must try again later.
    static let maximumWait = 16

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: maximum number of running calls: at least two, because one may wait for a signer program.
    package init(_ limit: Int = max(2, ProcessInfo.processInfo.activeProcessorCount / 2)) { self.limit = limit }

    /// Waits for a turn of a token.
    /// - Returns: false if too many of its calls wait already.
    package func begin(_ token: String) async -> Bool {
        let isRefused = state.withLock { $0.waiting.count { $0.token == token } >= Self.maximumWait }
        guard !isRefused else { return false }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let next = state.withLock { state in
                state.waiting.append(Waiting(token: token, continuation: continuation))
                return state.next(of: limit)
            }
            next?.resume()
        }
        return true
    }

    /// Ends the turn.
    package func end(_ token: String) {
        let next = state.withLock { state in
            state.running.remove(token)
            return state.next(of: limit)
        }
        next?.resume()
    }

    /// The number of waiting calls.
    package var waiting: Int { state.withLock { $0.waiting.count } }
}
