package import NIOCore
package import NIOHTTP1

/// A response of a listener.
package struct ListenerAnswer: Sendable {
    /// The status.
    package var status: HTTPResponseStatus
    /// The headers, without those of the connection and the length.
    package var headers: [(name: String, value: String)]
    /// The body. For `HEAD`, only its length is sent.
    package var body: ByteBuffer
    /// Whether the connection closes after the response.
    package var closes = false
    /// Whether the connection is read again only after a pause, because the client sends too many requests.
    package var pauses = false
    /// The caller for the log, such as `token ci`; nil for an anonymous client.
    package var caller: String?

    /// Makes a response that caches must not store.
    package init(_ status: HTTPResponseStatus, json: [UInt8], headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers =
            [
                ("Content-Type", "application/json"), ("Cache-Control", "no-store"),
                ("X-Content-Type-Options", "nosniff"),
            ] + headers
        body = ByteBuffer(bytes: json)
    }

    /// Makes a response with any headers.
    package init(_ status: HTTPResponseStatus, body: ByteBuffer, headers: [(name: String, value: String)]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
