import Holdfast
import NIOCore

/// Reads the version that a server chose from its ServerHello (RFC 8446 4.1.3, 4.2.1). If a client refuses the chain,
/// the connection is closed before its version can be queried.
final class TLSVersionWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The version that was read, shared with the code that made the connection.
    private let version: Lock<String?>
    private var seen: [UInt8] = []
    private var isOver = false

    /// Larger than any ServerHello: a key share of ML-KEM has more than a thousand bytes.
    private static let maximumBytes = 8_192

    init(_ version: Lock<String?>) {
        self.version = version
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isOver {
            seen += unwrapInboundIn(data).readableBytesView.prefix(Self.maximumBytes - seen.count)
            if let found = Self.version(in: seen) {
                version.withLock { $0 = found }
                isOver = true
            }
            if seen.count >= Self.maximumBytes { isOver = true }
        }
        context.fireChannelRead(data)
    }

    /// The version; nil while the ServerHello is incomplete.
    static func version(in octets: [UInt8]) -> String? {
        var rest = octets[...]
        func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func number(_ count: Int) -> Int? { take(count)?.reduce(0) { $0 << 8 | Int($1) } }
        // A handshake record with a ServerHello in it.
        guard number(1) == 22, take(2) != nil, let record = number(2), rest.count >= record, number(1) == 2,
            number(3) != nil, let legacy = number(2), take(32) != nil, let session = number(1), take(session) != nil,
            take(3) != nil
        else { return nil }
        guard let length = number(2), rest.count >= length else { return name(legacy) }
        rest = rest.prefix(length)
        while let kind = number(2), let length = number(2), let value = take(length) {
            if kind == 43 { return name(value.reduce(0) { $0 << 8 | Int($1) }) }
        }
        return name(legacy)
    }

    private static func name(_ number: Int) -> String? {
        switch number {
        case 0x0304: "TLS 1.3"
        case 0x0303: "TLS 1.2"
        case 0x0302: "TLS 1.1"
        case 0x0301: "TLS 1.0"
        default: nil
        }
    }
}
