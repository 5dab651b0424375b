import Holdfast

/// Tasks that wait for an event. A canceled task continues at once, so that the time limit of a test ends it.
package final class WaitingTasks: Sendable {
    private struct State {
        var last = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Tasks that were canceled before they began to wait.
        var canceled: Set<Int> = []
    }

    private let state = Lock(State())

    package init() {}

    /// Waits until `resumeAll()`, unless the event has happened or the task is canceled.
    /// - Parameter isOver: called with the lock held that `resumeAll()` takes: code that changes the answer to true
    ///   must call that afterward.
    package func wait(unless isOver: @escaping @Sendable () -> Bool) async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.canceled.remove(number) != nil || isOver() { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.waiting.removeValue(forKey: number)
                if continuation == nil { state.canceled.insert(number) }
                return continuation
            }
            continuation?.resume()
        }
        // The task may have been canceled after it continued.
        state.withLock { _ = $0.canceled.remove(number) }
    }

    /// Resumes all waiting tasks.
    package func resumeAll() {
        let continuations = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in continuations { continuation.resume() }
    }
}
