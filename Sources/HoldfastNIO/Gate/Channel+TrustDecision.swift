public import Holdfast
public import NIOCore

extension Channel {
    /// The decision about the peer of this channel, see ``PinnedTLSClient/addHandlers(to:position:)`` and
    /// ``PinnedTLSServer/addHandlers(to:position:)``.
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

    /// Who the client at the other end of this channel is, once its handshake is complete and it is trusted.
    ///
    /// Fails with the `TrustFailure` of one that is not trusted, with what ended a handshake, with
    /// ``TLSAdapterError/Code/noClient`` where the peer is a server, and as ``trustDecision()`` does. From any thread.
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
