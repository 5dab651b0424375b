/// Waits for an operation, but not forever.
package enum Deadline {
    /// The result of a closure; nil if it takes longer, or if the task is canceled. An operation that cannot be
    /// canceled, such as a name lookup of the system, continues in the background, and its result is dropped.
    package static func value<Value: Sendable>(
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
