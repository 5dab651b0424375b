import HoldfastNIO
import NIOCore

extension EventLoopFuture where Value: Sendable {
    /// The value; nil if it does not arrive before a deadline, or if the task is canceled.
    ///
    /// An event loop that has ended completes nothing: without a limit, the task would wait forever. Connections are on
    /// threads that end with a client, even if the client's last requests are still in flight.
    /// - Parameter loop: measures the time; it must not be one that can end.
    func value(before deadline: NIODeadline, on loop: any EventLoop) async throws -> Value? {
        let promise = loop.makePromise(of: Value?.self)
        whenComplete { promise.completeWith($0.map(Optional.some)) }
        promise.complete(with: .success(nil), at: deadline)
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.succeed(nil)
        }
    }
}
