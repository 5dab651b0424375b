import Holdfast

/// Tasks that wait for something. A task that is canceled goes on at once, so that the time limit of a test ends it.
package final class WaitingTasks: Sendable {
    private struct State {
        var last = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Those that were canceled before they began to wait.
        var canceled: Set<Int> = []
    }

    private let state = Lock(State())

    package init() {}

    /// Waits until `resumeAll()`, unless there is nothing to wait for anymore or the task is canceled.
    /// - Parameter isOver: asked with the lock held that `resumeAll()` takes: whoever changes the answer to true calls
    ///   that afterward.
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
        // The task may have been canceled after it went on.
        state.withLock { _ = $0.canceled.remove(number) }
    }

    /// Has all tasks go on that wait.
    package func resumeAll() {
        let continuations = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in continuations { continuation.resume() }
    }
}
