import NIOCore
import NIOHTTP1
import ServerHTTP

/// Builds the responses for pages, with their security headers.
enum PageAnswer {
    /// The headers of each page: they forbid external and inline resources, framing, referrers and caching.
    static let headers: [(name: String, value: String)] = [
        ("Content-Type", "text/html; charset=utf-8"),
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]

    /// A response with a page.
    static func html(
        _ html: String, _ status: HTTPResponseStatus = .ok, headers more: [(name: String, value: String)] = []
    ) -> ListenerAnswer {
        ListenerAnswer(status, body: ByteBuffer(string: html), headers: headers + more)
    }

    /// A redirect to another page.
    static func redirect(to address: String) -> ListenerAnswer {
        ListenerAnswer(.seeOther, body: ByteBuffer(), headers: [("Location", address), ("Cache-Control", "no-store")])
    }

    /// A file that never changes under its address, or that browsers revalidate each time.
    static func file(
        _ body: ByteBuffer, type: String, tag: String, isForEver: Bool, to request: ListenerRequest
    ) -> ListenerAnswer {
        let headers: [(name: String, value: String)] = [
            ("ETag", tag), ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", isForEver ? "public, max-age=31536000, immutable" : "no-cache"),
        ]
        let known = request.list("If-None-Match")
        // Caches that compress make strong tags weak (RFC 9110 13.1.2).
        guard !known.elementsEqual(tag.utf8), !known.elementsEqual("W/\(tag)".utf8) else {
            return ListenerAnswer(.notModified, body: ByteBuffer(), headers: headers)
        }
        return ListenerAnswer(.ok, body: body, headers: headers + [("Content-Type", type)])
    }
}
