package import NIOCore
package import NIOHTTP1

/// A complete request, with head and body.
package struct ListenerRequest: Sendable {
    /// The head as it was sent.
    package let head: HTTPRequestHead
    /// The body; empty for most requests.
    package let body: ByteBuffer
    /// The source of the request.
    package let source: SourcePrefix

    /// Whether the client wants no body.
    var isHead: Bool { head.method == .HEAD }

    /// The only value of a header; nil if it is missing or repeated.
    package func header(_ name: String) -> String? {
        let values = head.headers[name]
        return values.count == 1 ? values[0] : nil
    }

    /// All values of a list header, joined.
    package func list(_ name: String) -> [UInt8] { Array(head.headers[name].joined(separator: ",").utf8) }
}
