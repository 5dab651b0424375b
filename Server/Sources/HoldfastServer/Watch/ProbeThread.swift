import Foundation
import NIOCore
import NIOPosix

/// The thread that connects to watched hosts and reads what they show. On the threads of the listeners, clients would wait
/// for the handshakes with 64 addresses that present long chains.
enum ProbeThread {
    /// Lower than that of the threads on which clients wait, and not the lowest: hosts are to answer before their deadlines
    /// on a busy machine too. Only on Linux does a thread have a niceness of its own.
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
