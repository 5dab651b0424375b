import NIOCore
import NIOHTTP1

/// What a listener answers.
struct ListenerAnswer: Sendable {
    /// The status.
    var status: HTTPResponseStatus
    /// The headers, without those of the connection and the length.
    var headers: [(name: String, value: String)]
    /// The body, also for `HEAD`, which gets its length.
    var body: ByteBuffer
    /// Whether the connection ends with it.
    var closes = false
    /// Whether the connection is read again only after a pause, because this client asks too much.
    var pauses = false
    /// Who asked, for the log, such as `token ci`; nil for whoever has no name.
    var caller: String?

    /// Makes an answer that no cache keeps.
    init(_ status: HTTPResponseStatus, json: [UInt8], headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers =
            [
                ("Content-Type", "application/json"), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ] + headers
        body = ByteBuffer(bytes: json)
    }

    /// Makes an answer with any headers.
    init(_ status: HTTPResponseStatus, body: ByteBuffer, headers: [(name: String, value: String)]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
