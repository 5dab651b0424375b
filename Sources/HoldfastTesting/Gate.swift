import Holdfast

/// A gate that opens once; waiting tasks continue then, or when they are canceled.
package final class Gate: Sendable {
    private let isOpen = Lock(false)
    private let waiting = WaitingTasks()

    package init() {}

    package func wait() async { await waiting.wait { self.isOpen.withLock { $0 } } }

    package func open() {
        isOpen.withLock { $0 = true }
        waiting.resumeAll()
    }
}
