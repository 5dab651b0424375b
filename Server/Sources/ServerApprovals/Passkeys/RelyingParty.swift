package import ServerFoundation

/// The relying party of passkeys: the origin of the administration's pages, and its host, which is the RP ID for
/// authenticators. A passkey works only at its own host.
package struct RelyingParty: Sendable, Hashable {
    /// The origin as browsers write it, such as `https://pins.example.com`, or `https://pins.example.com:8443`.
    package let origin: String
    /// The host.
    package let id: String

    /// The schemes, each with its default port, which browsers omit.
    private static let schemes: [(text: String, port: Int64)] = [("https://", 443), ("http://", 80)]

    /// The SHA-256 of the host, which authenticators sign.
    package var digest: Digest { Digest(of: id.utf8) }

    /// Reads an origin.
    /// - Throws: ``ServerError`` `invalidValue` for a text that is not a browser's spelling of an origin, or an origin
    ///   without passkeys: a scheme other than https, except at `localhost`; an address instead of a name, upper case,
    ///   a path, or the default port of the scheme.
    package init(origin: String) throws(ServerError) {
        guard let party = RelyingParty(bytes: origin.utf8) else {
            throw ServerError(
                .invalidValue, of: "admin-origin",
                expected: "https://, a name in lower case, and a port if it is not 443; http:// only for localhost",
                found: "another text of \(origin.utf8.count) bytes",
                remedy: "Give the address of the pages without a path, such as https://pins.example.com.")
        }
        self = party
    }

    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count <= 300,
            let scheme = Self.schemes.first(where: { bytes.starts(with: $0.text.utf8) })
        else { return nil }
        let parts = bytes.dropFirst(scheme.text.utf8.count)
            .split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, Self.isName(host) else { return nil }
        // A connection within the machine needs no TLS: browsers treat it as secure.
        guard scheme.port == 443 || host.elementsEqual("localhost".utf8) else { return nil }
        if parts.count == 2 {
            // Browsers omit the default port of the scheme.
            guard let port = LineReader.number(Array(parts[1])[...]), (1...65_535).contains(port), port != scheme.port
            else {
                return nil
            }
        }
        origin = String(decoding: bytes, as: UTF8.self)
        id = String(decoding: host, as: UTF8.self)
    }

    /// Whether bytes are a name of letters, digits and hyphens in lower case (RFC 1123 2.1). Authenticators accept no
    /// IP addresses.
    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard bytes.count <= 253, let last = labels.last, !last.allSatisfy({ digits.contains($0) }) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                && label.reversed().first != UInt8(ascii: "-")
                && label.allSatisfy { byte in
                    digits.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                        || byte == UInt8(ascii: "-")
                }
        }
    }
}
