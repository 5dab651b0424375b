/// Runs asynchronous work on threads that may wait for programs, such as a signer: a function of another module calls it
/// in the middle of its own work.
final class ProgramThreads: TaskExecutor {
    private static let shared = ProgramThreads()

    /// Does something that may block, on a thread of its own.
    static func run<Value: Sendable, Failure: Error>(
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

    /// Does something that may block between its own waits. A function that is not `@concurrent` would stay where its
    /// caller runs.
    static func runWaiting<Value: Sendable, Failure: Error>(
        _ body: @escaping @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(shared) { () async throws(Failure) -> Value in try await body() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        ProgramRun.onThread { unsafe job.runSynchronously(on: executor) }
    }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
