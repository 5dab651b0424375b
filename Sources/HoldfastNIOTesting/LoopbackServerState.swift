#if Services
import Holdfast
import HoldfastTesting
import NIOCore
import NIOSSL

/// The counters of a server, the tasks that wait for them, and the open connections.
final class LoopbackServerState: Sendable {
    typealias Statistics = LoopbackTLSServer.Statistics

    private enum Phase { case handshaking, completed, failed }

    private struct Connection {
        let channel: any Channel
        var phase = Phase.handshaking
    }

    private struct Waiter {
        let condition: @Sendable (Statistics) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Values {
        var statistics = Statistics()
        var context: NIOSSLContext
        var connections: [ObjectIdentifier: Connection] = [:]
        var waiters: [Int: Waiter] = [:]
        var waiterCount = 0
        var isShutDown = false
    }

    private let values: Lock<Values>

    init(context: NIOSSLContext) {
        values = Lock(Values(context: context))
    }

    var statistics: Statistics { values.withLock { $0.statistics } }

    func replaceContext(_ context: NIOSSLContext) {
        values.withLock { $0.context = context }
    }

    /// Registers a connection, and returns the TLS context that serves it.
    func accepted(_ channel: any Channel) throws -> NIOSSLContext {
        let context = change { values -> NIOSSLContext? in
            guard !values.isShutDown else { return nil }
            values.statistics.connectionsAccepted += 1
            values.connections[ObjectIdentifier(channel)] = Connection(channel: channel)
            return values.context
        }
        guard let context else { throw ChannelError.ioOnClosedChannel }
        return context
    }

    func saw(serverName: String?) {
        change { $0.statistics.lastServerName = serverName }
    }

    func handshakeCompleted(_ channel: any Channel) {
        change { values in
            values.connections[ObjectIdentifier(channel)]?.phase = .completed
            values.statistics.handshakesCompleted += 1
        }
    }

    func handshakeFailed(_ channel: any Channel) {
        change { values in
            guard values.connections[ObjectIdentifier(channel)]?.phase == .handshaking else { return }
            values.connections[ObjectIdentifier(channel)]?.phase = .failed
            values.statistics.handshakesFailed += 1
        }
    }

    func closed(_ channel: any Channel) {
        change { values in
            guard let connection = values.connections.removeValue(forKey: ObjectIdentifier(channel)) else { return }
            if connection.phase == .handshaking { values.statistics.handshakesFailed += 1 }
            values.statistics.connectionsClosed += 1
        }
    }

    func count(received: Int = 0, sent: Int = 0) {
        change { values in
            values.statistics.plaintextBytesReceived += received
            values.statistics.plaintextBytesSent += sent
        }
    }

    /// Refuses further connections, and returns the open ones.
    func shutDown() -> [any Channel] {
        values.withLock { values in
            values.isShutDown = true
            return values.connections.values.map(\.channel)
        }
    }

    /// Closes the socket below TLS, because TLS would wait for the peer's close_notify.
    static func cut(_ channel: any Channel) {
        channel.eventLoop.execute {
            let context = try? channel.pipeline.syncOperations.context(handlerType: ConnectionGate.self)
            if let context { context.close(promise: nil) } else { channel.close(promise: nil) }
        }
    }

    func wait(
        limit: Duration, on loop: any EventLoop, until condition: @escaping @Sendable (Statistics) -> Bool
    ) async throws(TestKitError) {
        let number = values.withLock { values in
            values.waiterCount += 1
            return values.waiterCount
        }
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { self.giveUp(number) }
        let happened = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSatisfied = values.withLock { values in
                    guard !condition(values.statistics) else { return true }
                    values.waiters[number] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isSatisfied { continuation.resume(returning: true) }
                // The cancellation handler below may have run before the waiter was registered.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
        timer.cancel()
        guard happened else {
            throw TestKitError(
                .timedOut, expected: "what the test waits for within \(limit)", found: "\(statistics)",
                remedy: "See what the client did instead, or wait longer.")
        }
    }

    private func giveUp(_ number: Int) {
        values.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }

    /// Changes the values. Then, without the lock, it wakes the tasks whose condition has come true.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout Values) -> Result) -> Result {
        let (result, satisfied) = values.withLock { values in
            let result = body(&values)
            let statistics = values.statistics
            let numbers = values.waiters.filter { $0.value.condition(statistics) }.keys
            return (result, numbers.compactMap { values.waiters.removeValue(forKey: $0)?.continuation })
        }
        for continuation in satisfied { continuation.resume(returning: true) }
        return result
    }
}
#endif
