import struct Foundation.URL

/// Reads and writes hosts with their ports as people type them.
package enum HostAndPort {
    /// The port of TLS, used if none is stated.
    package static let defaultPort = 443

    /// A host and its port as text, with IPv6 addresses in brackets.
    package static func text(_ name: String, port: Int) -> String {
        name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    /// Reads a host, with a port only if one is stated. Of a URL, the host and the port are used.
    /// - Returns: nil if the text after the host is not a port.
    /// - Throws: if the host cannot be dialed.
    package static func host(_ text: String) throws(HostError) -> DialedHost? {
        if text.contains("://") {
            guard let url = URL(string: text) else { return nil }
            return try DialedHost(url: url)
        }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            guard !rest.isEmpty else { return try DialedHost(text) }
            guard rest.first == ":", let port = port(rest.dropFirst()) else { return nil }
            return try DialedHost(String(text[...end]), port: port)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // Text with more than one colon is an IPv6 address, which has no port without brackets.
        guard parts.count == 2 else { return try DialedHost(text) }
        guard let port = port(parts[1]) else { return nil }
        return try DialedHost(String(parts[0]), port: port)
    }

    private static func port(_ digits: Substring) -> Int? {
        guard digits.utf8.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits)
    }
}
