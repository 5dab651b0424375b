package import NIOCore

extension EventLoopPromise where Value: Sendable {
    /// Gives the promise this result when the time is up, unless it has another by then.
    package func complete(with result: Result<Value, any Error>, at deadline: NIODeadline) {
        let timer = futureResult.eventLoop.scheduleTask(deadline: deadline) { completeWith(result) }
        futureResult.whenComplete { _ in timer.cancel() }
    }

    /// Fails the promise when the time is up, unless it has a result by then.
    package func fail(_ error: any Error, after limit: TimeAmount) {
        complete(with: .failure(error), at: .now() + limit)
    }
}
