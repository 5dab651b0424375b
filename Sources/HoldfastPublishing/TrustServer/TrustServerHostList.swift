package import Foundation
package import Holdfast

/// The list of hosts for which a trust server publishes, in the form of a file: one host per line, with its port if
/// that is not 443. Text after a `#` is a comment.
package struct TrustServerHostList: Sendable {
    /// The hosts with their ports, each once, in their order.
    package let hosts: [DialedHost]

    /// Maximum size of a file in bytes.
    package static let maximumBytes = 8 << 20
    /// Maximum length of a line in bytes, without its comment; a name has at most 253.
    private static let longestEntry = 2_048
    /// A name without a dot belongs to a private network and is short. A longer one may be a private key in Base64.
    private static let longestLabel = 40

    /// - Parameters:
    ///   - data: the file.
    ///   - name: its name for messages.
    ///   - limits: the limits of the clients, which refuse a document with more hosts.
    /// - Throws: ``PublishingError`` `unreadable`. It does not repeat the line, because a file given by mistake may be
    ///   a key.
    package init(
        _ data: Data, named name: String, limits: DocumentLimits = DocumentLimits()
    ) throws(PublishingError) {
        var hosts: [DialedHost] = []
        var seen: Set<DialedHost> = []
        let lines = data.prefix(Self.maximumBytes).split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            // Check the length before Unicode is processed.
            let octets = line.prefix { $0 != UInt8(ascii: "#") }.drop(while: Self.isSpace)
            guard !octets.allSatisfy(Self.isSpace) else { continue }
            let host = try Self.host(octets, place: "\(name), line \(index + 1)")
            guard seen.insert(host).inserted else { continue }
            hosts.append(host)
            guard hosts.count <= limits.entries else {
                throw PublishingError(
                    .unreadable, of: name, expected: "at most \(limits.entries) hosts, as clients take", found: "more",
                    remedy: "Leave some out.")
            }
        }
        guard !hosts.isEmpty else {
            throw PublishingError(
                .unreadable, of: name, expected: "a host", found: "none", remedy: "Write one HOST:PORT a line.")
        }
        self.hosts = hosts
    }

    private static func isSpace(_ octet: UInt8) -> Bool { " \t\r".utf8.contains(octet) }

    private static func host(_ octets: Data, place: String) throws(PublishingError) -> DialedHost {
        var reason = "a line too long"
        if octets.count > longestLabel, !octets.contains(UInt8(ascii: ".")), !octets.contains(UInt8(ascii: ":")) {
            reason = "a long name without a dot"
        } else if octets.count <= longestEntry {
            let text = String(decoding: octets, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            do throws(HostError) {
                if let host = try HostAndPort.host(text) {
                    return try host.withPort(orDefault: HostAndPort.defaultPort)
                }
                reason = "no port"
            } catch {
                reason = error.code.rawValue
            }
        }
        throw PublishingError(
            .unreadable, of: place, expected: "a host, with a port if not 443, for example www.example.com:8443",
            found: "something else (\(reason))", remedy: "Correct the line, or put # before it.")
    }
}
