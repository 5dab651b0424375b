import Dispatch
import Foundation
import Holdfast

/// Lets a program that runs until it is told to stop finish the current write, and begin no other.
final class StopGate: Sendable {
    private let isStopped = Lock(false)

    /// Runs a write, unless the program was told to stop.
    /// - Returns: whether it ran.
    func write<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Bool {
        // The lock is held while the files are written on purpose. Only the end of the program waits for it.
        try isStopped.withLock { isStopped throws(Failure) in
            guard !isStopped else { return false }
            try body()
            return true
        }
    }

    /// Waits for the current write. After this, no write begins.
    func stop() { isStopped.withLock { $0 = true } }

    /// Ends the program with success when it gets SIGTERM or SIGINT, after the current write.
    /// - Returns: the sources. Keep them for as long as signals should be handled.
    func endOnSignals() -> [any DispatchSourceSignal] {
        let queue = DispatchQueue(label: "holdfastctl.stop")
        return [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                self.stop()
                exit(0)
            }
            source.resume()
            return source
        }
    }
}
