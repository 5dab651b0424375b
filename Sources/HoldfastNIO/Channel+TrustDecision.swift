public import Holdfast
public import NIOCore

extension Channel {
    /// The decision about the server of this channel, see ``PinnedTLSClient/addHandlers(to:position:)``.
    ///
    /// Fails with NIO's `notFound` when the pipeline has none of Holdfast's handlers, as that of a channel that is
    /// closed. From any thread.
    public func trustDecision() -> EventLoopFuture<TrustDecision> {
        eventLoop.flatSubmit {
            do {
                return try self.pipeline.syncOperations.handler(type: TrustGateHandler.self).decision
            } catch {
                return self.eventLoop.makeFailedFuture(error)
            }
        }
    }
}
