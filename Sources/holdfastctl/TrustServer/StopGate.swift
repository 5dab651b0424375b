import Dispatch
import Foundation
import Holdfast

/// Lets a program that runs until it is told to stop finish the write at hand, and begin no other.
final class StopGate: Sendable {
    private let isStopped = Lock(false)

    /// Runs a write unless the program was told to stop.
    /// - Returns: whether it ran.
    func write<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Bool {
        // The lock is held while the files are written: that is what it is for, and nobody else waits for it but the
        // end of the program.
        try isStopped.withLock { isStopped throws(Failure) in
            guard !isStopped else { return false }
            try body()
            return true
        }
    }

    /// Waits for the write at hand; from then on there is none.
    func stop() { isStopped.withLock { $0 = true } }

    /// Ends the program with success when it gets SIGTERM or SIGINT, after the write at hand.
    /// - Returns: what must be kept for as long as signals are to be heard.
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
