import Holdfast
public import NIOCore
public import NIOPosix

extension ClientBootstrap {
    /// Connects to the client's host and returns once its server is trusted.
    ///
    /// The application's handlers exist only after the decision: `whenTrusted` runs on the event loop as soon as the
    /// handshake is complete and before any byte is delivered, and adds them, or wraps the channel, at once.
    ///
    /// - Parameters:
    ///   - client: the host and the trust.
    ///   - address: where to connect instead of resolving the host; the server is still evaluated for the host.
    ///   - whenTrusted: sets up the channel; if it throws, the channel is closed.
    /// - Returns: what `whenTrusted` returned.
    /// - Throws: the `TrustFailure` of a server that is not trusted, ``TLSAdapterError``, NIO's and NIOSSL's errors,
    ///   and errors of `whenTrusted`.
    /// The port is the host's, or 443 if it has none.
    @concurrent
    public func connect<Output: Sendable>(
        to client: PinnedTLSClient, at address: SocketAddress? = nil,
        whenTrusted: @escaping @Sendable (any Channel) throws -> Output
    ) async throws -> Output {
        let initializer: @Sendable (any Channel) -> EventLoopFuture<EventLoopFuture<Output>> = { channel in
            channel.eventLoop.submit {
                try client.addHandlers(to: channel.pipeline.syncOperations).flatMapThrowing { decision in
                    if let failure = decision.failure { throw failure }
                    do {
                        return try whenTrusted(channel)
                    } catch {
                        channel.close(promise: nil)
                        throw error
                    }
                }
            }
        }
        let output =
            if let address {
                try await connect(to: address, channelInitializer: initializer)
            } else {
                try await connect(
                    host: client.host.name, port: client.host.port ?? 443, channelInitializer: initializer)
            }
        return try await output.get()
    }
}
