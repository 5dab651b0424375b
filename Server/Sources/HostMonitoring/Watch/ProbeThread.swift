import Foundation
import NIOCore
import NIOPosix

/// The thread that connects to watched hosts and reads their chains. On the threads of the listeners, clients would
/// wait for the handshakes with 64 addresses that present long chains.
enum ProbeThread {
    /// A lower priority than that of the listeners' threads, but not the lowest: hosts must answer before their
    /// deadlines on a busy machine too. Only on Linux does each thread have a separate niceness.
    private static let niceness: Int32 = 10

    /// The event loop, for the lifetime of the process.
    static let group: any EventLoopGroup = {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        #if os(Linux)
        // Without permission it runs at normal priority.
        group.next().execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
        #endif
        return group
    }()
}
