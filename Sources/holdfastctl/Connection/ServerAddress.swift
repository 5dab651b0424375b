import Foundation
import Holdfast

/// Reads `HOST[:PORT]` as people type it.
enum ServerAddress {
    static let defaultPort = 443

    /// Reads a host with its port; if none is stated, it is the default port.
    static func host(_ text: String, defaultPort: Int = defaultPort) throws -> DialedHost {
        try host(try hostWithOptionalPort(text), defaultPort: defaultPort)
    }

    static func host(_ host: DialedHost, defaultPort: Int = defaultPort) throws -> DialedHost {
        host.port == nil ? try DialedHost(host.name, port: defaultPort) : host
    }

    /// A host and its port as text, with IPv6 addresses in brackets.
    static func text(_ name: String, port: Int) -> String {
        name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    /// Reads a host, with a port only if one is stated. A URL stands for its host and port.
    static func hostWithOptionalPort(_ text: String) throws -> DialedHost {
        if text.contains("://") {
            guard let url = URL(string: text) else { throw invalid(text) }
            return try DialedHost(url: url)
        }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            guard !rest.isEmpty else { return try DialedHost(text) }
            guard rest.first == ":" else { throw invalid(text) }
            return try DialedHost(String(text[...end]), port: try port(rest.dropFirst(), in: text))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // Text with more than one colon is an IPv6 address, which has no port without brackets.
        guard parts.count == 2 else { return try DialedHost(text) }
        return try DialedHost(String(parts[0]), port: try port(parts[1], in: text))
    }

    private static func port(_ digits: Substring, in text: String) throws -> Int {
        guard digits.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits) else {
            throw invalid(text)
        }
        return port
    }

    private static func invalid(_ text: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage,
            "expected HOST or HOST:PORT, for example www.example.com:8443 or [2001:db8::1]:443, found \(text.quotedAddress)"
        )
    }
}

extension CommandFailure: CustomStringConvertible {
    var description: String { message }
}
