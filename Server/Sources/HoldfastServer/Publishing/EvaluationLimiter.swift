import Foundation
import Synchronization

/// Who may have clients judge something now. A call can keep a processor busy for seconds: each announcement, format and age
/// of clients is one more question. Half of the processors do that at most, and one call of a token at a time. The others
/// wait, and the token whose turn is longest ago is next.
final class EvaluationLimiter: Sendable {
    private struct Waiting {
        let token: String
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var running: Set<String> = []
        /// In the order in which they came.
        var waiting: [Waiting] = []
        /// When each token had its turn, in turns.
        var turns: [String: Int] = [:]
        var count = 0

        /// Takes the next that may run, if there is room.
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

    /// How many calls of a token wait; more are asked to come back.
    static let maximumWait = 16

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many calls run at a time: two at least, since one may wait for a signer program.
    init(_ limit: Int = max(2, ProcessInfo.processInfo.activeProcessorCount / 2)) { self.limit = limit }

    /// Waits for a turn of a token.
    /// - Returns: false if too many of its calls wait already.
    func begin(_ token: String) async -> Bool {
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

    /// Gives the turn back.
    func end(_ token: String) {
        let next = state.withLock { state in
            state.running.remove(token)
            return state.next(of: limit)
        }
        next?.resume()
    }

    /// How many calls wait.
    var waiting: Int { state.withLock { $0.waiting.count } }
}
