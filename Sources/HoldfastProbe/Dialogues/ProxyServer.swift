import Foundation
public import Holdfast

/// An HTTP proxy that forwards connections, with the credentials that it requires.
public struct ProxyServer: Sendable {
    /// The proxy, with its port.
    public let host: DialedHost
    /// The Base64 of user name and password (RFC 7617 2), which is never displayed.
    package let credentials: String?

    /// The port if a URL does not specify one.
    package static let defaultPort = 80

    /// The value of Proxy-Authorization.
    var authorization: String? { credentials.map { "Basic \($0)" } }

    /// Reads `HOST:PORT`, or `http://USER:PASSWORD@HOST:PORT` as in environment variables.
    /// - Throws: ``ProbeConfigurationError`` with `invalidProxy`. No error repeats the text before an `@`.
    public init(_ text: String) throws(ProbeConfigurationError) {
        var rest = text[...]
        var isURL = false
        if let scheme = rest.firstRange(of: "://") {
            let name = rest[..<scheme.lowerBound].utf8
            guard name.elementsEqual("http".utf8) || name.elementsEqual("HTTP".utf8) else {
                throw Self.invalid("a URL that does not begin with http://")
            }
            isURL = true
            rest = rest[scheme.upperBound...].prefix { $0 != "/" }
        }
        var credentials: String?
        if let at = rest.lastIndex(of: "@") {
            let user = rest[..<at]
            guard let decoded = String(user).removingPercentEncoding, decoded.utf8.count <= 1_024,
                decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { throw Self.invalid("a user name or password with characters that a header cannot have") }
            credentials = Data((user.contains(":") ? decoded : decoded + ":").utf8).base64EncodedString()
            rest = rest[rest.index(after: at)...]
        }
        guard let host = try? HostAndPort.host(String(rest)), host.port != nil || isURL,
            let dialed = try? host.withPort(orDefault: Self.defaultPort)
        else { throw Self.invalid(String(rest).quotedAddress) }
        self.host = dialed
        self.credentials = credentials
    }

    private static func invalid(_ found: String) -> ProbeConfigurationError {
        ProbeConfigurationError(
            .invalidProxy,
            expected: "HOST:PORT of an HTTP proxy, for example proxy.example:3128, or http://USER:PASSWORD@HOST:PORT",
            found: found)
    }
}
