import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import PinChanges
@testable import ServerHTTP
@testable import ServerModel

/// Parses bytes as the listeners do, without a socket.
enum ParsedRequest {
    /// The first request that is whole; nil if there is none.
    static func first(of bytes: [UInt8]) throws -> ListenerRequest? {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        var head: HTTPRequestHead?
        var body = ByteBuffer()
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let read): head = read
            case .body(let bytes): body.writeImmutableBuffer(bytes)
            case .end: return head.map { ListenerRequest(head: $0, body: body, source: .unknown) }
            }
        }
        return nil
    }

    /// A request as a client writes it.
    static func bytes(_ method: String, _ target: String, _ headers: [String], body: String? = nil) -> [UInt8] {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: pins.example.com"] + headers
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return Array((lines.map { $0 + "\r\n" }.joined() + "\r\n" + (body ?? "")).utf8)
    }
}
