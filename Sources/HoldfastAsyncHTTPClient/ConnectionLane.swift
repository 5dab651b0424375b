import Foundation
import Holdfast
import NIOCore
import NIOPosix

/// A thread that connections run on, and the only handle on some of them: AsyncHTTPClient 1.37 shows an HTTP/2
/// connection to nobody before the server's first SETTINGS, and does not close it until then, not even when it is shut
/// down. Whoever ends the thread closes every connection on it.
final class ConnectionLane: Sendable {
    /// Held while one is made: many who need one at a time would take each other's descriptors, and one serves them all.
    static let making = Lock(())

    let group: any EventLoopGroup
    private let isEnding = Lock(false)

    /// What NIO opens for a thread, three on Linux, and as many more as others may take meanwhile: it stops the process
    /// when it gets none.
    private static let descriptors = 16

    /// AsyncHTTPClient may go on with the body of a request that is answered already, and tell the thread so.
    private static let rest = TimeAmount.milliseconds(500)

    /// - Throws: `IOError` when the process has no descriptors left, and could not connect either.
    init() throws {
        let spare = (0..<Self.descriptors).map { _ in unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
        for descriptor in spare where descriptor >= 0 { close(descriptor) }
        guard spare.allSatisfy({ $0 >= 0 }) else {
            throw IOError(errnoCode: EMFILE, reason: "no descriptors for a thread of connections")
        }
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Closes what is left on the thread, and ends it. Does not block, and may be called from anywhere.
    func end(_ ended: @escaping @Sendable () -> Void) {
        let isFirst = isEnding.withLock { isEnding in
            defer { isEnding = true }
            return !isEnding
        }
        guard isFirst else { return }
        let group = group
        // The system's resolver works through the names of one thread in turn, and reports to that thread, however late:
        // once it has come to this name, an address that nothing listens at, it owes the thread nothing.
        group.any().scheduleTask(in: Self.rest) {
            ClientBootstrap(group: group).connectTimeout(.hours(1)).connect(host: "127.0.0.1", port: 0)
                .whenComplete { _ in group.shutdownGracefully(queue: .global()) { _ in ended() } }
        }
    }
}
