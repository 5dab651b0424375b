import Dispatch
import Foundation
import Synchronization

/// One thread for work that has time: the system runs it when nothing else wants the processor. Asynchronous functions run
/// there with `withTaskExecutorPreference`.
final class BackgroundThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// The lowest there is on Linux, where a thread has a niceness of its own. Below that, among what runs only on an idle
    /// processor (`SCHED_IDLE`), it might keep others waiting for its locks.
    private static let niceness: Int32 = 19

    /// Does something there, and ends the thread afterwards.
    static func run(_ body: @escaping @concurrent @Sendable () async -> Void) async {
        let thread = BackgroundThread()
        thread.begin()
        await withTaskExecutorPreference(thread) { await body() }
        thread.end()
    }

    private init() {}

    /// Lets others have the processor, for work that has many small parts. Whatever its niceness is, a thread that has been
    /// chosen keeps the processor until the kernel's next tick, four milliseconds where there are 250 of them in a second.
    static func giveWay() { sched_yield() }

    private func begin() {
        let thread = Thread { [self] in
            #if os(Linux)
            // Without permission it runs as others do.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            #endif
            work()
        }
        thread.qualityOfService = .background
        thread.start()
    }

    private func end() {
        state.withLock { $0.isEnded = true }
        arrivals.signal()
    }

    private func work() {
        let executor = unsafe asUnownedTaskExecutor()
        while true {
            arrivals.wait()
            let (jobs, isEnded) = state.withLock { state in
                defer { state.jobs.removeAll(keepingCapacity: true) }
                return (state.jobs, state.isEnded)
            }
            for job in jobs { unsafe job.runSynchronously(on: executor) }
            if isEnded { return }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        arrivals.signal()
    }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
