import AsyncHTTPClient
import Foundation
import Holdfast
import NIOHTTP1

/// Decides whether and how a redirect is followed: AsyncHTTPClient's rules, with two of Holdfast's own (never from
/// https to http, and a Host header ends with its origin). No I/O.
struct RedirectEngine {
    typealias Rules = HTTPClient.Configuration.RedirectConfiguration.FollowConfiguration

    /// Nil follows none.
    private let rules: Rules?
    private var visited: [String]

    init(rules: Rules?, url: String) {
        self.rules = rules
        visited = [url]
    }

    /// The request to send next; nil when the response is the answer.
    ///
    /// - Parameters:
    ///   - request: what was sent.
    ///   - current: its URL, read where it is needed.
    /// - Throws: AsyncHTTPClient's errors past the limit and for a circle, ``PinnedHTTPClientError`` for a target
    ///   without TLS.
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
        guard visited.count <= rules.max else { throw HTTPClientError.redirectLimitReached }
        guard rules.allowCycles || !visited.contains(text) else { throw HTTPClientError.redirectCycleDetected }
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
        // The body is on its way already: what cannot be sent again ends here, with the redirect as the answer.
        guard next.body.map(Self.canBeSentAgain) ?? true else { return nil }
        return next
    }

    static func isRedirect(_ status: HTTPResponseStatus) -> Bool {
        switch status {
        case .movedPermanently, .found, .seeOther, .notModified, .useProxy, .temporaryRedirect, .permanentRedirect:
            true
        default: false
        }
    }

    private static func becomesGet(_ method: HTTPMethod, _ status: HTTPResponseStatus, _ rules: Rules) -> Bool {
        switch status {
        case .seeOther: method != .HEAD
        case .movedPermanently: method == .POST && !rules.retainHTTPMethodAndBodyOn301
        case .found: method == .POST && !rules.retainHTTPMethodAndBodyOn302
        default: false
        }
    }

    /// As written, so that a port that is spelled out differs from one that is not: then credentials are dropped.
    private static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
        one.scheme == other.scheme && one.host == other.host && one.port == other.port
    }

    /// AsyncHTTPClient does not say whether a body can be sent again, so what it is made of is asked by reflection;
    /// where that says nothing, it is not sent again.
    static func canBeSentAgain(_ body: HTTPClientRequest.Body) -> Bool {
        guard let mode = Mirror(reflecting: body).descendant("mode"),
            let kind = Mirror(reflecting: mode).children.first
        else { return false }
        switch kind.label {
        case "byteBuffer": return true
        case "sequence":
            return Mirror(reflecting: kind.value).descendant("canBeConsumedMultipleTimes") as? Bool ?? false
        default: return false
        }
    }
}

extension HTTPClient.Configuration.RedirectConfiguration {
    /// What the application chose. AsyncHTTPClient offers no way to read it, and the inner clients must not follow by
    /// themselves.
    ///
    /// - Throws: ``PinnedHTTPClientError`` where reflection says nothing.
    func rules() throws(PinnedHTTPClientError) -> FollowConfiguration? {
        if let mode = Mirror(reflecting: self).descendant("mode") {
            if let followed = Mirror(reflecting: mode).children.first {
                if let rules = followed.value as? FollowConfiguration { return rules }
            } else if "\(mode)" == "disallow" {
                return nil
            }
        }
        throw PinnedHTTPClientError(
            .unreadableConfiguration, expected: "a redirectConfiguration that can be read", found: "an unknown form",
            remedy: "Build with reflection metadata, and with a version of AsyncHTTPClient that Holdfast knows.")
    }
}
