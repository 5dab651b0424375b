import AsyncHTTPClient
import Foundation
import Holdfast

/// An HTTP proxy that passes connections on, with the credentials that it requires.
struct ProxyServer: Sendable {
    /// The proxy, with its port.
    let host: DialedHost
    /// The Base64 of user name and password (RFC 7617 2), which is never shown.
    let credentials: String?

    /// The port if a URL does not state one.
    static let defaultPort = 80

    /// The value of Proxy-Authorization.
    var authorization: String? { credentials.map { "Basic \($0)" } }

    /// Reads `HOST:PORT`, or `http://USER:PASSWORD@HOST:PORT` as in environment variables. No error repeats the text
    /// before an `@`.
    init(_ text: String) throws(CommandFailure) {
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
        do {
            let host = try ServerAddress.hostWithOptionalPort(String(rest))
            guard host.port != nil || isURL else { throw Self.invalid(String(rest).quotedAddress) }
            self.host = try ServerAddress.host(host, defaultPort: Self.defaultPort)
        } catch {
            throw Self.invalid(String(rest).quotedAddress)
        }
        self.credentials = credentials
    }

    private static func invalid(_ found: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage,
            "expected HOST:PORT of an HTTP proxy, for example proxy.example:3128, or http://USER:PASSWORD@HOST:PORT, "
                + "found \(found)")
    }
}

/// The proxy for the connection to each host: one proxy for all hosts, or what the environment says, as curl and others
/// understand it: HTTPS_PROXY, except for the hosts of NO_PROXY.
struct ProxySettings: Sendable {
    private let proxy: ProxyServer?
    private let exceptions: [Substring]

    /// - Parameter proxy: the proxy for every host; nil for none.
    init(always proxy: ProxyServer?) {
        self.proxy = proxy
        exceptions = []
    }

    /// - Throws: if it names a proxy that cannot be used. The error does not repeat the value, which may contain a
    ///   password.
    init(environment: [String: String]) throws(CommandFailure) {
        func value(_ name: String) -> String? {
            [name.lowercased(), name].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        exceptions = (value("NO_PROXY") ?? "").split { $0 == "," || $0 == " " }
        guard let text = value("HTTPS_PROXY") else {
            proxy = nil
            return
        }
        do throws(CommandFailure) {
            proxy = try ProxyServer(text)
        } catch {
            throw CommandFailure(.wrongUsage, "HTTPS_PROXY of the environment: \(error.message)")
        }
    }

    /// Reads the environment of the command.
    static func ofEnvironment() throws(CommandFailure) -> ProxySettings {
        try ProxySettings(environment: ProcessInfo.processInfo.environment)
    }

    /// The proxy for a URL, for AsyncHTTPClient.
    var ofDownloads: @Sendable (URL) -> HTTPClient.Configuration.Proxy? {
        { url in
            guard url.scheme?.lowercased() == "https", let host = try? DialedHost(url: url),
                let dialed = try? ServerAddress.host(host, defaultPort: ServerAddress.defaultPort),
                let proxy = proxy(for: dialed)
            else { return nil }
            return .server(
                host: proxy.host.name, port: proxy.host.port ?? ProxyServer.defaultPort,
                authorization: proxy.credentials.map { .basic(credentials: $0) })
        }
    }

    func proxy(for host: DialedHost) -> ProxyServer? {
        exceptions.contains { Self.covers($0, host) } ? nil : proxy
    }

    /// Whether an exception covers a host. It may be `*`; a domain with everything below it, with or without a leading
    /// dot; or an address. A port restricts it.
    private static func covers(_ exception: Substring, _ host: DialedHost) -> Bool {
        guard exception != "*" else { return true }
        let name = exception.hasPrefix("*.") ? exception.dropFirst(2) : exception.drop { $0 == "." }
        guard let domain = try? ServerAddress.hostWithOptionalPort(String(name)) else { return false }
        if let port = domain.port, port != host.port { return false }
        if domain.name == host.name { return true }
        return host.addressOctets == nil && domain.addressOctets == nil && host.name.hasSuffix("." + domain.name)
    }
}
