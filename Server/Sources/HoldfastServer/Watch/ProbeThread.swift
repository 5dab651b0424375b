import Foundation
import NIOCore
import NIOPosix

/// The thread that connects to watched hosts and reads what they show. Handshakes with 64 addresses that present long
/// chains take seconds of a processor: on the threads of the listeners each of them would be time that clients wait.
enum ProbeThread {
    /// On Linux, where a thread has a niceness of its own, it gives way to what clients wait for, and has a tenth of a busy
    /// processor left, so that hosts are still seen before their deadlines.
    private static let niceness: Int32 = 10

    /// One event loop, for as long as the process lives.
    static let group: any EventLoopGroup = {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        #if os(Linux)
        // Without permission it runs as others do.
        group.next().execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        #endif
        return group
    }()
}
