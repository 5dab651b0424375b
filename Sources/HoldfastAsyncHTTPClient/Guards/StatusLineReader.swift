import NIOCore

/// Keeps the first octets of a response, so that a decoder's error can quote them: the error itself says only what was
/// wrong.
final class StatusLineReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// As many as an error quotes.
    private static let length = 80

    private var octets: [UInt8] = []

    /// The first line, as far as it is kept.
    var line: [UInt8] { Array(octets.prefix { $0 != 0x0D && $0 != 0x0A }) }

    /// What comes next belongs to another request.
    func restart() { octets.removeAll(keepingCapacity: true) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if octets.count < Self.length {
            octets += unwrapInboundIn(data).readableBytesView.prefix(Self.length - octets.count)
        }
        context.fireChannelRead(data)
    }
}
