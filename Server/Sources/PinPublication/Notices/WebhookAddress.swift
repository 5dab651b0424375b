import Foundation
import Holdfast
import ServerFoundation

/// The address of a webhook. Its path and query may be secrets, so only ``host`` is ever printed.
struct WebhookAddress: Sendable, Hashable {
    /// The host, with its port.
    let host: DialedHost
    /// The path and query as sent.
    let target: String

    private static let maximumSize = 2_048

    /// Parses an `https` address.
    /// - Throws: ``ServerError`` `invalidValue`, without any part of the address.
    init(_ text: String) throws(ServerError) {
        guard ASCIIText.isPrintable(text.utf8, 1...Self.maximumSize), let url = URL(string: text),
            url.scheme?.lowercased() == "https", url.user() == nil, url.password() == nil, url.fragment() == nil,
            let dialed = try? DialedHost(url: url), let host = try? DialedHost(dialed.name, port: url.port ?? 443)
        else {
            throw ServerError(
                .invalidValue, of: "webhook",
                expected: "an address with https, without a user, a password and a fragment",
                found: "another text of \(text.utf8.count) bytes")
        }
        self.host = host
        let path = url.path(percentEncoded: true)
        target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    /// The value of the header `Host`.
    var authority: String {
        let name = host.name.utf8.contains(UInt8(ascii: ":")) ? "[\(host.name)]" : host.name
        return host.port.map { $0 == 443 ? name : "\(name):\($0)" } ?? name
    }
}
