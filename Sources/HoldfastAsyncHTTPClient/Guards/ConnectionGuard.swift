import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Placed in the pipeline between a server and AsyncHTTPClient's own handlers, from the end of the handshake on.
///
/// AsyncHTTPClient reads only the grammar of responses (``ResponseGrammar``), because it stops the process for many
/// other inputs from a server.
///
/// AsyncHTTPClient's pool stops the process if a connection that it does not have yet, or that has failed for it,
/// reports an event. So no data of the server passes a guard before the pool has the connection, and none ever does
/// once the connection is refused. Belongs to its channel's event loop.
protocol ConnectionGuard: AnyObject {
    /// Whether the server has ended the connection, or broken its protocol, during the evaluation. The pool does not
    /// get such a connection.
    var hasEnded: Bool { get }
    /// The unsolicited data of the server that ended the connection; nil otherwise.
    var malformation: PinnedHTTPClientError? { get }

    /// Delivers the buffered data and everything after it: the pool has the connection.
    func open(_ channel: any Channel)
    /// Drops the buffered data and everything after it: the connection is refused.
    func discard()
    /// Closes the connection as soon as no request is on it. The caller must let no further request start.
    func drain(_ channel: any Channel)
}

extension ConnectionGuard {
    /// The error for the first request on a connection that has already ended.
    var ending: any Error { malformation ?? HTTPClientError.remoteConnectionClosed }
}

extension ConnectionGuard where Self: ChannelHandler {
    fileprivate func bound(to channel: any Channel) -> NIOLoopBound<any ConnectionGuard> {
        NIOLoopBound(self, eventLoop: channel.eventLoop)
    }
}

/// The protocol of a connection, from its handshake.
enum ConnectionProtocol {
    case http1
    case http2

    /// Puts a guard into the pipeline of a newly prepared connection. Call it on the channel's event loop.
    ///
    /// - Parameters:
    ///   - draining: called when the connection is to end with its current requests.
    ///   - refusal: the reason why a request must not be sent on the connection; nil if it may.
    func addGuard(
        to channel: any Channel, draining: @escaping @Sendable () -> Void,
        refusal: @escaping @Sendable () -> (any Error)?
    ) throws -> NIOLoopBound<any ConnectionGuard> {
        let pipeline = channel.pipeline.syncOperations
        switch self {
        case .http1:
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let added = RequestGuard(.connection, refusal: refusal)
            try pipeline.addHandler(added.statusLine, position: .before(decoder))
            try pipeline.addHandler(added, position: .after(decoder))
            return added.bound(to: channel)
        case .http2:
            let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
            let added = FrameGuard(draining: draining)
            try pipeline.addHandler(added, position: .after(http2))
            return added.bound(to: channel)
        }
    }
}
