import HoldfastNIO
import NIOCore

/// A wait that did not end: a failed test, not one that hangs, since NIO's futures take no notice of a canceled task.
struct WaitedTooLong: Error {}

extension EventLoopFuture where Value: Sendable {
    /// The value, if it comes within a time that is longer than any that an honest one takes.
    func inTime(_ limit: TimeAmount = .seconds(60)) async throws -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        promise.fail(WaitedTooLong(), after: limit)
        cascade(to: promise)
        return try await promise.futureResult.get()
    }

    /// The value or the error, without throwing.
    var result: Result<Value, any Error> {
        get async {
            do { return .success(try await inTime()) } catch { return .failure(error) }
        }
    }
}
