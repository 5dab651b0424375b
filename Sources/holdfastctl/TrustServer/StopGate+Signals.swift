import Dispatch
import Foundation
import HoldfastPublishing

extension StopGate {
    /// Ends the program with success on SIGTERM or SIGINT, after pending writes.
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
