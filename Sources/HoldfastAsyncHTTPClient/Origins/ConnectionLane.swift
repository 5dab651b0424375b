import Foundation
import Holdfast
import NIOCore
import NIOPosix

/// A thread that connections run on, and the only handle on some of them: AsyncHTTPClient 1.37 does not expose an
/// HTTP/2 connection before the server's first SETTINGS, and does not close it until then, not even in a shutdown.
/// Ending the thread closes every connection on it.
final class ConnectionLane: Sendable {
    /// Held while a thread is made, because concurrent makers would take each other's descriptors, and one thread is
    /// enough for all of them.
    static let making = Lock(())

    /// Threads without a client, and the time until which they can be reused.
    private static let left = Lock<[(lane: ConnectionLane, end: NIODeadline)]>([])

    let group: any EventLoopGroup
    private let isEnding = Lock(false)
    private let connections = Lock<[ObjectIdentifier: EventLoopFuture<Void>]>([:])

    /// The number of descriptors that NIO opens for a thread, three on Linux, with a reserve for other threads: NIO
    /// stops the process if it gets none.
    private static let descriptors = 16

    /// A delay, because AsyncHTTPClient may still schedule work on the thread for a finished request.
    private static let rest = TimeAmount.milliseconds(500)

    /// A thread for a new client: one that another client has left, or a new one.
    /// - Throws: `IOError` if the process has no descriptors left, and could not connect either.
    static func take() throws -> ConnectionLane { try left.withLock { $0.popLast()?.lane } ?? ConnectionLane() }

    private init() throws {
        let spare = (0..<Self.descriptors).map { _ in unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
        for descriptor in spare where descriptor >= 0 { close(descriptor) }
        guard spare.allSatisfy({ $0 >= 0 }) else {
            throw IOError(errnoCode: EMFILE, reason: "no descriptors for a thread of connections")
        }
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Closes everything on the thread and ends it. It does not block, and may be called from anywhere.
    func end(_ ended: @escaping @Sendable () -> Void) {
        guard isEnding.withLock({ $0.setFirst() }) else { return }
        group.any().scheduleTask(in: Self.rest) {
            self.afterLastName { self.group.shutdownGracefully(queue: .global()) { _ in ended() } }
        }
    }

    /// Leaves the thread to the next client as soon as all connections are closed. Ends it, and them, if no client
    /// takes it within the time that its end takes anyway.
    func leave() {
        afterLastName {
            let loop = self.group.any()
            let end = NIODeadline.now() + Self.rest
            let isOffered = NIOLoopBoundBox(false, eventLoop: loop)
            let isOver = NIOLoopBoundBox(false, eventLoop: loop)
            EventLoopFuture.andAllComplete(self.connections.withLock { Array($0.values) }, on: loop).whenComplete { _ in
                guard !isOver.value else { return }
                isOffered.value = true
                Self.left.withLock { $0.append((self, end)) }
            }
            loop.scheduleTask(deadline: end) {
                isOver.value = true
                let isLeft = Self.left.withLock { left in
                    let place = left.firstIndex { $0.lane === self && $0.end == end }
                    return place.map { left.remove(at: $0) } != nil
                }
                if isLeft || !isOffered.value { self.group.shutdownGracefully(queue: .global()) { _ in } }
            }
        }
    }

    /// Waits for the end of a connection before another client may have the thread. Call it on the thread.
    func note(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        connections.withLock { $0[id] = channel.closeFuture }
        channel.closeFuture.whenComplete { _ in self.connections.withLock { _ = $0.removeValue(forKey: id) } }
    }

    /// The system's resolver handles the names of one thread in order and reports to it at any later time. Once it has
    /// resolved this name, an address without a listener, it has nothing left to report.
    private func afterLastName(_ next: @escaping @Sendable () -> Void) {
        ClientBootstrap(group: group).connectTimeout(.hours(1)).connect(host: "127.0.0.1", port: 0)
            .whenComplete { _ in next() }
    }
}
