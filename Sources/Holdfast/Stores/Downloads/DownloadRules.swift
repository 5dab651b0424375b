package import struct Foundation.URL

/// The rules for download addresses that every provider follows.
package struct DownloadRules: Sendable {
    /// The maximum number of redirects that are followed.
    package static let maximumRedirects = 5

    private let allowsPlainHTTPToLoopback: Bool
    private let allowsPlainHTTP: Bool

    package init(allowsPlainHTTPToLoopback: Bool, allowsPlainHTTP: Bool = false) {
        self.allowsPlainHTTPToLoopback = allowsPlainHTTPToLoopback
        self.allowsPlainHTTP = allowsPlainHTTP
    }

    /// A limit that timers accept: not negative, and at most a year.
    package static func usable(_ limit: Duration) -> Duration { min(max(limit, .zero), .seconds(366 * 86_400)) }

    /// - Throws: ``RemoteDataError`` `insecureURL`.
    package func check(_ url: URL) throws(RemoteDataError) {
        guard isAllowed(url) else {
            throw RemoteDataError(
                .insecureURL, expected: allowsPlainHTTP ? "an http or https URL" : "an https URL",
                found: url.quotedAddress)
        }
    }

    /// The target of a redirect, whose number counts from 1. Redirects from https to http, from another machine to this
    /// one, or to a URL with a user are refused. A name may still resolve to this machine: a provider that learns the
    /// address to which it was connected compares that with ``place(of:redirectedFromThisMachine:)``.
    /// - Parameter origin: the URL that redirects, which may itself be the target of the previous redirect.
    /// - Throws: ``RemoteDataError`` `redirectRefused`.
    @discardableResult
    package func redirected(to url: URL?, from origin: URL, number: Int, status: Int) throws(RemoteDataError) -> URL {
        guard number <= Self.maximumRedirects, let url, isAllowed(url),
            Self.scheme(of: url) == "https" || Self.scheme(of: origin) == "http",
            url.user(percentEncoded: true) == nil, LocalHost.isSurely(origin) || !LocalHost.mayBe(url)
        else {
            throw RemoteDataError(
                .redirectRefused, status: status,
                expected:
                    "at most \(Self.maximumRedirects) redirects, \(allowsPlainHTTP ? "none from https to http" : "each to https")",
                found: url?.quotedAddress ?? "no URL")
        }
        return url
    }

    /// The machines to which the connection for a request may lead.
    package enum Place: Sendable {
        case anywhere
        /// Not this machine, because another machine redirects there.
        case elsewhere
        /// Only this machine, because it is plain HTTP, which is allowed only for this machine.
        case thisMachine
    }

    /// The machines to which the connection for a URL may lead.
    /// - Parameter origin: whether the machine that redirects there is this one; nil for a URL that the application
    ///   requested.
    package func place(of url: URL, redirectedFromThisMachine origin: Bool?) -> Place {
        if Self.scheme(of: url) == "http", !allowsPlainHTTP { return .thisMachine }
        return origin == false ? .elsewhere : .anywhere
    }

    private func isAllowed(_ url: URL) -> Bool {
        switch Self.scheme(of: url) {
        case "https": true
        case "http":
            allowsPlainHTTP || allowsPlainHTTPToLoopback && LocalHost.isSurely(url)
        default: false
        }
    }

    /// The scheme in lower case. The length is limited because the server chooses the target of a redirect.
    private static func scheme(of url: URL) -> String? {
        url.scheme.flatMap { $0.isASCII(atMost: 5) ? $0.lowercased() : nil }
    }
}
