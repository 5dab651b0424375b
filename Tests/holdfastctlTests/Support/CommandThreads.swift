import Foundation
import Holdfast

/// Threads for one command that runs inside this process.
///
/// A process has its own. Those on which the tasks of a test run may all be busy with other tests for a minute, and a
/// command that waits for them would give up on a host that answers.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class CommandThreads: TaskExecutor {
    /// The jobs to run. The threads keep the queue, and not the executor, with whose end they end.
    private final class Queue: Sendable {
        private let jobs = Lock<[@Sendable () -> Void]>([])
        private let isReady = DispatchSemaphore(value: 0)

        func add(_ job: @escaping @Sendable () -> Void) {
            jobs.withLock { $0.append(job) }
            isReady.signal()
        }

        func end() { isReady.signal() }

        /// Runs what there is, until there is an end and nothing else.
        func work() {
            while true {
                isReady.wait()
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                job()
            }
        }
    }

    /// Two, so that one may wait for a file.
    private static let count = 2

    private let queue = Queue()

    init() {
        for _ in 0..<Self.count {
            let thread = Thread { [queue] in queue.work() }
            // As much as the main thread of a process has.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    deinit {
        for _ in 0..<Self.count { queue.end() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.add { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
