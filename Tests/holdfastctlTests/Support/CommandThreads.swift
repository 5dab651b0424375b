import Foundation
import Holdfast

/// Threads of their own for commands that run inside this process.
///
/// A process has its own. Those on which the tasks of a test run may all be busy with long tests for a minute, and a
/// command that waits for them would give up on a host that answers.
@available(macOS 15, *)
final class CommandThreads: TaskExecutor {
    static let shared = CommandThreads(count: 4)

    private let jobs = Lock<[@Sendable () -> Void]>([])
    private let isReady = DispatchSemaphore(value: 0)

    private init(count: Int) {
        for _ in 0..<count {
            let thread = Thread { self.work() }
            // As much as the main thread of a process has.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { jobs in
            jobs.append { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
        isReady.signal()
    }

    private func work() {
        while true {
            isReady.wait()
            jobs.withLock { $0.removeFirst() }()
        }
    }
}
