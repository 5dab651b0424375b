/// Runs asynchronous work on threads that may wait for programs, such as a signer: a function of another module calls it
/// in the middle of its own work.
final class ProgramThreads: TaskExecutor {
    private static let shared = ProgramThreads()

    /// Does something that may block.
    static func run<Value, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(shared, operation: body)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        ProgramRun.onThread { unsafe job.runSynchronously(on: executor) }
    }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
