// What scripts/nightly asks ThreadSanitizer before it believes its silence: `locked` counts under a contended lock and
// must pass, `unlocked` counts without one and must be reported.
import Foundation
import Synchronization

final class Counter: Sendable {
    private let locked = Mutex(0)
    private nonisolated(unsafe) var unlocked = 0

    func count(underLock: Bool) {
        if underLock { locked.withLock { $0 += 1 } } else { unlocked += 1 }
    }
}

@main
enum Control {
    static func main() {
        let counter = Counter()
        let underLock = CommandLine.arguments.dropFirst().first == "locked"
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<8 {
            Thread.detachNewThread {
                for _ in 0..<20_000 { counter.count(underLock: underLock) }
                done.signal()
            }
        }
        for _ in 0..<8 { done.wait() }
    }
}
