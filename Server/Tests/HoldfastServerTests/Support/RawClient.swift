import Foundation
import NIOCore
import NIOPosix

/// A client that sends bytes as they are, and says what came back.
struct RawClient: Sendable {
    let port: Int
    /// The address of this machine from which it connects; each is another source.
    var from = "127.0.0.1"

    /// Sends something, and reads until the other side ends the connection.
    func exchange(_ text: String) async throws -> String { try await exchange(Array(text.utf8)) }

    /// Sends something, and reads until the other side ends the connection.
    /// - Parameter onFirst: called when something came back.
    func exchange(_ bytes: [UInt8], onFirst: @Sendable () -> Void = {}) async throws -> String {
        String(buffer: try await received(bytes, onFirst: onFirst))
    }

    private func received(_ bytes: [UInt8], onFirst: @Sendable () -> Void = {}) async throws -> ByteBuffer {
        try await connected { inbound, outbound in
            // The other side may have refused before everything was sent.
            try? await outbound.write(ByteBuffer(bytes: bytes))
            var received = ByteBuffer()
            do {
                for try await buffer in inbound {
                    if received.readableBytes == 0 { onFirst() }
                    received.writeImmutableBuffer(buffer)
                }
            } catch is IOError {
                // A connection that was reset has ended as well.
            }
            return received
        }
    }

    /// Works with a connection.
    func connected<Result: Sendable>(
        isolation actor: isolated (any Actor)? = #isolation,
        _ body: (NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws ->
            Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(to: try SocketAddress(ipAddress: from, port: 0))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose(isolation: actor) { try await body($0, $1) }
    }

    /// One request on a connection of its own.
    func request(_ method: String, _ target: String, _ headers: [String] = []) async throws -> RawAnswer {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: pins.example.net", "Connection: close"] + headers
        return RawAnswer(try await exchange(lines.map { $0 + "\r\n" }.joined() + "\r\n"))
    }

    /// The bytes served at a target; nil unless the status is 200 and the body is complete.
    func body(of target: String) async throws -> [UInt8]? {
        let request = "GET \(target) HTTP/1.1\r\nHost: pins.example.net\r\nConnection: close\r\n\r\n"
        let bytes = Array(try await received(Array(request.utf8)).readableBytesView)
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let answer = RawAnswer(String(decoding: bytes[..<end.upperBound], as: UTF8.self))
        let body = bytes[end.upperBound...]
        return answer.status == 200 && Int(answer.header("Content-Length") ?? "") == body.count ? Array(body) : nil
    }

    func get(_ target: String, _ headers: [String] = []) async throws -> RawAnswer {
        try await request("GET", target, headers)
    }
}

/// An answer as it came.
struct RawAnswer: Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    var status: Int { Int(text.dropFirst(9).prefix(3)) ?? 0 }
    private var halves: (head: Substring, body: Substring) {
        guard let middle = text.firstRange(of: "\r\n\r\n") else { return (text[...], "") }
        return (text[..<middle.lowerBound], text[middle.upperBound...])
    }
    var head: String { String(halves.head) }
    var body: String { String(halves.body) }

    func header(_ name: String) -> String? {
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
        return line.map { String($0.dropFirst(name.count + 1)).trimmingCharacters(in: .whitespaces) }
    }
}
