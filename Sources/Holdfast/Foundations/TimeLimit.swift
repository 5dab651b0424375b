/// Waiting with a time limit.
package enum TimeLimit {
    /// A year, because the clock traps on a time that it cannot represent.
    private static let longest = Duration.seconds(366 * 86_400)

    /// The result of a task that others may share; nil if the time is up or the caller's task is canceled. The task
    /// itself continues: if it has only one owner, the owner must cancel it.
    /// - Parameter clock: measures the limit.
    package static func value<Value: Sendable>(
        of task: Task<Value, Never>, within limit: Duration, on clock: any Clock<Duration> = ContinuousClock()
    ) async -> Value? {
        let first = FirstAnswer<Value?>()
        Task { first.settle(await task.value) }
        let timer = Task {
            try? await clock.sleep(for: min(limit, longest))
            first.settle(nil)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            first.settle(nil)
        }
    }
}
