import Foundation
import Holdfast

/// Scheme, host and port of a URL, in one canonical form: the key of connections.
struct HTTPOrigin: Hashable, Sendable {
    enum Scheme: String, Sendable {
        case http
        case https

        var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    let scheme: Scheme
    /// Always with a port.
    let host: DialedHost

    var port: Int { host.port ?? scheme.defaultPort }

    /// The host as AsyncHTTPClient spells it in its tables: an IPv6 address in brackets.
    var hostInURL: String {
        if case .ipv6 = host.kind { "[\(host.name)]" } else { host.name }
    }
}

/// The target of a request, parsed once: the policy evaluates the host that the client connects to.
struct RequestTarget: Sendable {
    let origin: HTTPOrigin
    /// As the caller wrote it; nil for a text that was not parsed.
    private let given: URL?
    /// The URL with the host in canonical form, for AsyncHTTPClient, which parses it again.
    let text: String

    /// The URL as the caller wrote it.
    var url: URL {
        get throws {
            guard let url = given ?? URL(string: text) else { throw Self.refused(text, expected: "a URL") }
            return url
        }
    }

    /// - Parameter origins: a cache of texts that were parsed before.
    /// - Throws: ``PinnedHTTPClientError``, or `HostError` for a host that cannot be dialed.
    init(_ text: String, origins: KnownOrigins) throws {
        let authority = KnownOrigins.authority(of: text)
        if let authority, let origin = origins[authority] {
            self.origin = origin
            self.text = text
            given = nil
            return
        }
        guard let url = URL(string: text),
            let scheme = url.scheme.flatMap({ HTTPOrigin.Scheme(rawValue: $0.lowercased()) })
        else { throw Self.refused(text, expected: "a URL of the scheme https or http") }
        let host = try DialedHost(url: url).withPort(orDefault: scheme.defaultPort)
        let origin = HTTPOrigin(scheme: scheme, host: host)
        self.origin = origin
        given = url
        if Self.host(of: url) == host.name {
            self.text = text
            if let authority { origins[authority] = origin }
            return
        }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            throw Self.refused(text, expected: "a URL of parts")
        }
        parts.encodedHost = origin.hostInURL
        // URL parsers differ; AsyncHTTPClient must find the same host in this text as the one that was evaluated.
        guard let canonical = parts.string, URL(string: canonical).flatMap(Self.host) == host.name else {
            throw Self.refused(text, expected: "a URL whose host reads \(host.name)")
        }
        self.text = canonical
    }

    private static func host(of url: URL) -> String? {
        guard let host = url.host else { return nil }
        guard host.hasPrefix("["), host.hasSuffix("]") else { return host }
        return String(host.dropFirst().dropLast())
    }

    private static func refused(_ text: String, expected: String) -> PinnedHTTPClientError {
        PinnedHTTPClientError(
            .urlRefused, expected: expected, found: text.quotedAddress,
            remedy: "Give an absolute URL, for example https://www.example.com/.")
    }
}
