import Holdfast

/// Puts an end to waiting for what cannot be cancelled.
enum TimeLimit {
    /// What the work says, or something else when it takes longer; the work then goes on without anybody listening.
    static func within<Result: Sendable>(
        _ limit: Duration, otherwise: Result, _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            let waiting = Lock<CheckedContinuation<Result, Never>?>(continuation)
            let answer = Answer(waiting)
            let timer = Task {
                do {
                    try await Task.sleep(for: limit)
                } catch {
                    return
                }
                answer.give(otherwise)
            }
            Task {
                answer.give(await work())
                timer.cancel()
            }
        }
    }

    private final class Answer<Result: Sendable>: Sendable {
        private let waiting: Lock<CheckedContinuation<Result, Never>?>

        init(_ waiting: consuming Lock<CheckedContinuation<Result, Never>?>) { self.waiting = waiting }

        func give(_ result: Result) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(returning: result)
        }
    }
}
