import Foundation
import Holdfast

/// Reads `HOST[:PORT]` as users type it.
enum ServerAddress {
    static let defaultPort = HostAndPort.defaultPort

    /// Reads a host with its port; if none is stated, it is the default port.
    static func host(_ text: String) throws -> DialedHost { try host(try hostWithOptionalPort(text)) }

    static func host(_ host: DialedHost) throws -> DialedHost {
        try host.withPort(orDefault: defaultPort)
    }

    /// A host and its port as text, with IPv6 addresses in brackets.
    static func text(_ name: String, port: Int) -> String { HostAndPort.text(name, port: port) }

    /// Reads a host, with a port only if one is stated. A URL is read as its host and port.
    static func hostWithOptionalPort(_ text: String) throws -> DialedHost {
        guard let host = try HostAndPort.host(text) else {
            throw CommandFailure(
                .wrongUsage,
                "expected HOST or HOST:PORT, for example www.example.com:8443 or [2001:db8::1]:443, found "
                    + text.quotedAddress)
        }
        return host
    }
}

extension CommandFailure: CustomStringConvertible {
    var description: String { message }
}
