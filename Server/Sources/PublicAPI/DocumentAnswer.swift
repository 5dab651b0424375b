import NIOCore
import NIOHTTP1
import PinPublication
import ServerHTTP

/// Answers with a document, or states that the client has it already (RFC 9110 13, RFC 9111 4.3).
enum DocumentAnswer {
    /// Maximum size of the header; a longer one is ignored.
    private static let maximumTags = 2_048
    /// Maximum number of tags compared: a cache has few versions of a document, and each comparison costs time.
    private static let maximumTagCount = 32

    /// - Parameters:
    ///   - document: the document.
    ///   - request: the request.
    ///   - now: seconds since 1970; nil if the clock is not trusted, and then caches must revalidate.
    static func answer(
        _ document: PublishedSnapshot.Document, to request: ListenerRequest, at now: Int64?
    ) -> ListenerAnswer {
        let compressed = Weight.acceptsGzip(request.list("Accept-Encoding")) ? document.compressed : nil
        let tag = compressed == nil ? document.entityTag : document.compressedEntityTag
        var headers: [(name: String, value: String)] = [
            ("ETag", tag), ("Cache-Control", caching(document, at: now)), ("Vary", "Accept-Encoding"),
        ]
        let modified = document.lastModified
        if let modified { headers.append(("Last-Modified", modified)) }
        if isCurrent(document, modified, request) {
            return ListenerAnswer(.notModified, body: ByteBuffer(), headers: headers)
        }
        headers += [("Content-Type", document.mediaType), ("X-Content-Type-Options", "nosniff")]
        if compressed != nil { headers.append(("Content-Encoding", "gzip")) }
        return ListenerAnswer(.ok, body: compressed ?? document.body, headers: headers)
    }

    /// For how long caches may serve a document: at most until its end, and after max-age only if the server fails.
    private static func caching(_ document: PublishedSnapshot.Document, at now: Int64?) -> String {
        guard let now else { return "no-cache" }
        let left = max(0, document.end - now)
        let fresh = min(max(0, document.refresh), left)
        return "public, max-age=\(fresh), stale-if-error=\(left - fresh)"
    }

    private static func isCurrent(
        _ document: PublishedSnapshot.Document, _ modified: String?, _ request: ListenerRequest
    ) -> Bool {
        if request.head.headers.contains(name: "If-None-Match") {
            let known = request.list("If-None-Match")
            guard known.count <= maximumTags else { return false }
            return known.split(separator: UInt8(ascii: ","), maxSplits: maximumTagCount).prefix(maximumTagCount)
                .contains { part in matches(part.filter { $0 != 0x20 && $0 != 0x09 }, document) }
        }
        // Only the exact time sent before matches: to send a small document again is cheaper than an error.
        guard let modified, let since = request.header("If-Modified-Since") else { return false }
        return since.utf8.elementsEqual(modified.utf8)
    }

    /// Compares tags weakly (RFC 9110 13.1.2), because caches that compress make strong tags weak. Both of our tags
    /// identify the same document.
    private static func matches(_ tag: [UInt8], _ document: PublishedSnapshot.Document) -> Bool {
        if tag == [UInt8(ascii: "*")] { return true }
        let opaque = tag.starts(with: "W/".utf8) ? tag[2...] : tag[...]
        return opaque.elementsEqual(document.entityTag.utf8) || opaque.elementsEqual(document.compressedEntityTag.utf8)
    }
}
