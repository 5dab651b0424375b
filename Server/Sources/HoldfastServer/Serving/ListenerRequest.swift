import NIOCore
import NIOHTTP1

/// A request, once its head and body are there.
struct ListenerRequest: Sendable {
    /// The head as it was sent.
    let head: HTTPRequestHead
    /// The body; empty for most.
    let body: ByteBuffer
    /// Where it comes from.
    let source: SourcePrefix

    /// Whether the client wants no body.
    var isHead: Bool { head.method == .HEAD }

    /// The only value of a header; nil if there is none or more than one.
    func header(_ name: String) -> String? {
        let values = head.headers[name]
        return values.count == 1 ? values[0] : nil
    }

    /// All values of a header that lists things, as one list.
    func list(_ name: String) -> [UInt8] { Array(head.headers[name].joined(separator: ",").utf8) }
}
