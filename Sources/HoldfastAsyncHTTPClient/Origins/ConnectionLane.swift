import Foundation
import Holdfast
import NIOCore
import NIOPosix

/// A thread that connections run on, and the only handle on some of them: AsyncHTTPClient 1.37 shows an HTTP/2
/// connection to nobody before the server's first SETTINGS, and does not close it until then, not even when it is shut
/// down. Ending the thread closes every connection on it.
final class ConnectionLane: Sendable {
    /// Held while one is made, because concurrent makers would take each other's descriptors, and one thread serves
    /// them all.
    static let making = Lock(())

    let group: any EventLoopGroup
    private let isEnding = Lock(false)

    /// The descriptors that NIO opens for a thread, three on Linux, with a reserve for other threads: NIO stops the
    /// process when it gets none.
    private static let descriptors = 16

    /// AsyncHTTPClient may continue with the body of an answered request, and schedule work on the thread.
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

    /// Closes everything on the thread and ends it. It does not block, and may be called from anywhere.
    func end(_ ended: @escaping @Sendable () -> Void) {
        let isFirst = isEnding.withLock { isEnding in
            defer { isEnding = true }
            return !isEnding
        }
        guard isFirst else { return }
        let group = group
        // The system's resolver handles the names of one thread in order and reports to it however late. Once it has
        // resolved this name, an address where nothing listens, it has nothing left to report.
        group.any().scheduleTask(in: Self.rest) {
            ClientBootstrap(group: group).connectTimeout(.hours(1)).connect(host: "127.0.0.1", port: 0)
                .whenComplete { _ in group.shutdownGracefully(queue: .global()) { _ in ended() } }
        }
    }
}
