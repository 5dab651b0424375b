import Holdfast

/// Exit tests whose child waits for what this process does meanwhile: one at a time.
///
/// While the child of an exit test runs, Swift Testing (6.3) reads what it reports and blocks one of the threads that
/// tasks run on. Where there are two, two such children would stop every task of this process, and each would wait for
/// ever.
package enum ConversingChild {
    private struct Turns {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let turns = Lock(Turns())

    /// Runs `body` while no other does.
    package static func alone<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = turns.withLock { turns in
                if turns.isTaken { turns.waiting.append(continuation) }
                defer { turns.isTaken = true }
                return !turns.isTaken
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = turns.withLock { turns -> CheckedContinuation<Void, Never>? in
                turns.isTaken = !turns.waiting.isEmpty
                return turns.isTaken ? turns.waiting.removeFirst() : nil
            }
            next?.resume()
        }
        return try await body()
    }
}
