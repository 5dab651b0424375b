import Dispatch
import Foundation
import Synchronization

/// One thread for work that can wait: the system runs it when no other thread needs the processor. Asynchronous
/// functions run on it with `withTaskExecutorPreference`.
package final class BackgroundThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// The lowest priority on Linux, where each thread has a separate niceness. With the policy for an idle processor
    /// (`SCHED_IDLE`), the thread might block others that wait for its locks.
    private static let niceness: Int32 = 19

    /// Runs a closure on a new thread, and ends the thread afterwards.
    package static func run(_ body: @escaping @concurrent @Sendable () async -> Void) async {
        let thread = BackgroundThread()
        thread.begin()
        await withTaskExecutorPreference(thread) { await body() }
        thread.end()
    }

    private init() {}

    /// Yields the processor, for work in many small parts. No matter what its niceness is, a running thread otherwise
    /// keeps the processor until the kernel's next tick, four milliseconds at 250 ticks per second.
    package static func giveWay() { sched_yield() }

    private func begin() {
        let thread = Thread { [self] in
            #if os(Linux)
            // Without permission it runs at normal priority.
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

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        arrivals.signal()
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
