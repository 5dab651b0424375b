import AsyncHTTPClient
import Foundation
import Holdfast
import NIOHTTP1

/// Decides whether and how a redirect is followed, as AsyncHTTPClient does, with three additional rules: never from
/// https to http, a Host header ends with its origin, and a body is sent again only by the caller's choice. No I/O.
struct RedirectEngine {
    /// The rules; nil follows no redirect.
    private let rules: RedirectRules?
    private var visited: [String]

    init(rules: RedirectRules?, url: String) {
        self.rules = rules
        visited = [url]
    }

    /// The request to send next; nil if the response is final.
    ///
    /// - Parameters:
    ///   - request: the request that was sent.
    ///   - current: its URL, read only if needed.
    /// - Throws: AsyncHTTPClient's errors for too many redirects and for a cycle, ``PinnedHTTPClientError`` for a
    ///   target without TLS.
    mutating func next(
        after request: HTTPClientRequest, at current: @autoclosure () throws -> URL, status: HTTPResponseStatus,
        headers: HTTPHeaders
    ) throws -> HTTPClientRequest? {
        guard let rules, Self.isRedirect(status), let location = headers.first(name: "Location") else { return nil }
        let url = try current()
        guard
            let target = URL(string: location, relativeTo: url)?.absoluteURL,
            let scheme = target.scheme?.lowercased(), scheme == "https" || scheme == "http"
        else { return nil }
        guard scheme == "https" || url.scheme?.lowercased() != "https" else {
            throw PinnedHTTPClientError(
                .redirectToPlaintext, expected: "a redirect to https", found: target.quotedAddress,
                remedy: "Have the server name an https address; without TLS nobody proves who answers.")
        }
        let text = target.absoluteString
        guard visited.count <= rules.limit else { throw HTTPClientError.redirectLimitReached }
        guard rules.allowsCycles || !visited.contains(text) else { throw HTTPClientError.redirectCycleDetected }
        visited.append(text)

        var next = request
        next.url = text
        if Self.becomesGet(request.method, status, rules) {
            next.method = .GET
            next.body = nil
            next.headers.remove(name: "Content-Length")
            next.headers.remove(name: "Content-Type")
        }
        if !Self.isSameOrigin(url, target) {
            for name in ["Origin", "Cookie", "Authorization", "Proxy-Authorization", "Host"] {
                next.headers.remove(name: name)
            }
        }
        // The body is already being sent; if it may not be sent again, the redirect is the response.
        guard next.body == nil || rules.resendsBodies else { return nil }
        return next
    }

    static func isRedirect(_ status: HTTPResponseStatus) -> Bool {
        switch status {
        case .movedPermanently, .found, .seeOther, .notModified, .useProxy, .temporaryRedirect, .permanentRedirect:
            true
        default: false
        }
    }

    private static func becomesGet(_ method: HTTPMethod, _ status: HTTPResponseStatus, _ rules: RedirectRules) -> Bool {
        switch status {
        case .seeOther: method != .HEAD
        case .movedPermanently: method == .POST && !rules.keepsMethodOn301
        case .found: method == .POST && !rules.keepsMethodOn302
        default: false
        }
    }

    /// Compares the text, so an explicit port differs from an implicit one, and then credentials are dropped.
    private static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
        one.scheme == other.scheme && one.host == other.host && one.port == other.port
    }
}
