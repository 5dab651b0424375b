import Foundation
import Holdfast

/// Lets a program that runs until it receives a signal finish its current writes and begin no others.
public final class StopGate: Sendable {
    private let state = Lock((isStopped: false, writers: 0))

    /// The time between two polls, in microseconds.
    private static let pause: UInt32 = 5_000

    /// Makes a gate that is open.
    public init() {}

    /// Begins writes that belong together, unless the program is stopping. Call ``leave()`` when they are done.
    /// - Returns: whether the writes may begin.
    public func enter() -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.writers += 1
            return true
        }
    }

    /// Ends writes that ``enter()`` has begun.
    public func leave() { state.withLock { $0.writers -= 1 } }

    /// Waits for the current writes. Afterward, no write begins. Blocks the thread.
    public func stop() {
        state.withLock { $0.isStopped = true }
        while state.withLock({ $0.writers }) > 0 { usleep(Self.pause) }
    }
}
