import NIOCore

/// Keeps the first bytes of a response, so that a decoder's error can quote them: the error itself only names the
/// mistake.
final class StatusLineReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The number of bytes that an error quotes.
    private static let length = 80

    private var octets: [UInt8] = []

    /// The first line, up to the kept length.
    var line: [UInt8] { Array(octets.prefix { $0 != 0x0D && $0 != 0x0A }) }

    /// Forgets the line before the response to another request.
    func restart() { octets.removeAll(keepingCapacity: true) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if octets.count < Self.length {
            octets += unwrapInboundIn(data).readableBytesView.prefix(Self.length - octets.count)
        }
        context.fireChannelRead(data)
    }
}
