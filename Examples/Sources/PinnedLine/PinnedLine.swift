import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix

/// Sends a line to a TLS server with SwiftNIO and prints the line that comes back. The server has one of two pinned keys.
@main
struct PinnedLine {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 5, let port = Int(arguments[2]) else {
            print("usage: PinnedLine HOST PORT PIN BACKUP-PIN LINE    (holdfastctl pin HOST prints pins)")
            exit(2)
        }
        do {
            let host = try DialedHost(arguments[1], port: port)
            let pins = try PinSet(pins: [Pin(arguments[3])], backups: [Pin(arguments[4])])
            print(try await send(arguments[5], to: host, pins: pins, anchors: .system()))
        } catch {
            print(error)
            exit(1)
        }
    }

    /// The server's answer, up to its first line feed.
    /// - Throws: the `TrustFailure` of a server that is refused, before the line is sent.
    static func send(_ line: String, to host: DialedHost, pins: PinSet, anchors: TrustAnchors) async throws -> String {
        let manager = TrustManager(policies: [try PinnedPolicy(host: HostPattern(host), pins: pins)])
        let validator = PathValidator(anchors: anchors, cache: VerifiedPathCache())
        let client = try PinnedTLSClient(trust: .manager(manager), host: host, validator: validator)
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        // The channel is handed out once the server is trusted, not before.
        let connection = try await bootstrap.connect(to: client) { channel in
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: line + "\n"))
            var answer = ByteBuffer()
            for try await part in inbound {
                answer.writeImmutableBuffer(part)
                if let end = answer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                    return String(decoding: answer.readableBytesView[..<end], as: UTF8.self)
                }
            }
            return String(buffer: answer)
        }
    }
}
