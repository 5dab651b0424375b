import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix

/// The client's end, an app or another service, which ships the file.
struct PinFileClient {
    let manager: TrustManager
    let anchors: TrustAnchors

    /// What the server says.
    /// - Throws: the `TrustFailure` of a server that the file does not allow.
    func ask(_ host: DialedHost) async throws -> String {
        let client = try PinnedTLSClient(
            trust: .manager(manager), host: host,
            validator: PathValidator(anchors: anchors, cache: VerifiedPathCache()))
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        let connection = try await bootstrap.connect(to: client) { channel in
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "hello?\n"))
            var answer = ByteBuffer()
            for try await part in inbound { answer.writeImmutableBuffer(part) }
            return String(buffer: answer)
        }
    }
}
