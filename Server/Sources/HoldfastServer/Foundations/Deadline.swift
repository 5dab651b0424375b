/// Waits for something, but not forever.
enum Deadline {
    /// What a closure returns; nil if it takes longer, or if the task is canceled. What cannot be canceled, such as a look
    /// into the system's names, goes on by itself, and nobody waits for it.
    static func value<Value: Sendable>(
        within limit: Duration, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (values, continuation) = AsyncStream.makeStream(of: Value?.self)
        let work = Task { continuation.yield(await body()) }
        let timer = Task {
            try? await Task.sleep(for: limit)
            continuation.yield(nil)
        }
        defer {
            work.cancel()
            timer.cancel()
        }
        for await value in values { return value }
        return nil
    }
}
