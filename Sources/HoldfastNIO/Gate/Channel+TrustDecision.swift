public import Holdfast
public import NIOCore

extension Channel {
    /// The decision about the peer of this channel, see ``PinnedTLSClient/addHandlers(to:position:)`` and
    /// ``PinnedTLSServer/addHandlers(to:position:)``.
    ///
    /// Fails with NIO's `notFound` if the pipeline has none of Holdfast's handlers, for example after the channel was
    /// closed. Call it from any thread.
    public func trustDecision() -> EventLoopFuture<TrustDecision> { gate { $0.decision } }

    /// The identity of the client of this channel, once its handshake is complete and it is trusted.
    ///
    /// Fails with the `TrustFailure` of a client that is not trusted, with the error that ended a handshake, with
    /// ``TLSAdapterError`` `noClient` if the peer is a server, and as ``trustDecision()`` does. Call it from any
    /// thread.
    public func clientIdentity() -> EventLoopFuture<ClientIdentity> { gate { $0.client } }

    private func gate<Value: Sendable>(
        _ answer: @escaping @Sendable (TrustGateHandler) -> EventLoopFuture<Value>
    ) -> EventLoopFuture<Value> {
        eventLoop.submit {
            try answer(self.pipeline.syncOperations.handler(type: TrustGateHandler.self))
        }.flatMap { $0 }
    }
}
