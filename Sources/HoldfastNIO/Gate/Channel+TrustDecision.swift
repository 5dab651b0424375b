public import Holdfast
public import NIOCore

extension Channel {
    /// The decision about the peer of this channel, see ``PinnedTLSClient/addHandlers(to:position:)`` and
    /// ``PinnedTLSServer/addHandlers(to:position:)``.
    ///
    /// Fails with NIO's `notFound` if the pipeline has none of Holdfast's handlers, for example after the channel was
    /// closed. Call it from any thread.
    public func trustDecision() -> EventLoopFuture<TrustDecision> {
        eventLoop.flatSubmit {
            do {
                return try self.pipeline.syncOperations.handler(type: TrustGateHandler.self).decision
            } catch {
                return self.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// Who the client at the other end of this channel is, once its handshake is complete and it is trusted.
    ///
    /// Fails with the `TrustFailure` of a client that is not trusted, with the error that ended a handshake, with
    /// ``TLSAdapterError/Code/noClient`` if the peer is a server, and as ``trustDecision()`` does. Call it from any
    /// thread.
    public func clientIdentity() -> EventLoopFuture<ClientIdentity> {
        eventLoop.flatSubmit {
            do {
                return try self.pipeline.syncOperations.handler(type: TrustGateHandler.self).client
            } catch {
                return self.eventLoop.makeFailedFuture(error)
            }
        }
    }
}
