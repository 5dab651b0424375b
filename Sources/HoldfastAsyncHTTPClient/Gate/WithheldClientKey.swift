import NIOCore
import NIOSSL

/// A client's key that signs for a server only once a gate has accepted it. TLS sends the client's certificate together
/// with the signature, so both are withheld.
///
/// TLS requests the signature when the server has proved the key of its certificate in this very handshake. So it makes
/// no difference which certificates the server presents in other handshakes.
final class WithheldClientKey: NIOSSLCustomPrivateKey, Hashable {
    private let key: ClientKey
    private let gate: ConnectionGate

    init(_ key: ClientKey, gate: ConnectionGate) {
        self.key = key
        self.gate = gate
    }

    var signatureAlgorithms: [SignatureAlgorithm] { key.signatureAlgorithms }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        gate.acceptServer(on: channel).flatMap { self.key.sign(on: channel, algorithm, data) }
    }

    /// Only servers decrypt.
    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    static func == (left: WithheldClientKey, right: WithheldClientKey) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Placed below TLS while a server is being evaluated, it lets nothing out. TLS has queued the client's certificate by
/// then, and would send it together with an alert.
final class SendBarrier: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.ioOnClosedChannel)
    }

    func flush(context: ChannelHandlerContext) {}
}
