/// Runs asynchronous work on threads that may block on programs, such as a signer called by a function of another
/// module in the middle of its work.
package final class ProgramThreads: TaskExecutor {
    private static let shared = ProgramThreads()

    /// Runs a closure that may block, on a new thread.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { done in
            ProgramRun.onThread {
                do throws(Failure) {
                    done.resume(returning: .success(try body()))
                } catch {
                    done.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs an asynchronous closure that may block. A function that is not `@concurrent` would stay on its caller's
    /// executor.
    package static func runWaiting<Value: Sendable, Failure: Error>(
        _ body: @escaping @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(shared) { () async throws(Failure) -> Value in try await body() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        ProgramRun.onThread { unsafe job.runSynchronously(on: executor) }
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
