import Foundation
import Holdfast

/// Lets a program that runs until it is told to stop finish the writes at hand, and begin no others.
public final class StopGate: Sendable {
    private let state = Lock((isStopped: false, writers: 0))

    /// Between two looks, in microseconds.
    private static let pause: UInt32 = 5_000

    /// Makes a gate that is open.
    public init() {}

    /// Begins writes that belong together, unless the program was told to stop. Call ``leave()`` when they are done.
    /// - Returns: whether they may begin.
    public func enter() -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.writers += 1
            return true
        }
    }

    /// Ends writes that ``enter()`` has begun.
    public func leave() { state.withLock { $0.writers -= 1 } }

    /// Waits for the writes at hand. After this, none begins. It blocks the thread.
    public func stop() {
        state.withLock { $0.isStopped = true }
        while state.withLock({ $0.writers }) > 0 { usleep(Self.pause) }
    }
}
