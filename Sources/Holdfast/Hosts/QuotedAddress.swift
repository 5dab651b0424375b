package import struct Foundation.URL

extension String {
    /// A text that may be a URL, for a message: its scheme and host, quoted. The text around the host may be a user, a
    /// password or a token; … marks what was left out.
    package var quotedAddress: String {
        // Cut first to bound the work; no host is this long.
        let octets = utf8.prefix(1_024)
        var rest = octets[...]
        var scheme = ""
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            scheme = String(decoding: rest[...colon], as: UTF8.self) + "//"
            rest = rest[colon...].dropFirst(3)
        }
        rest = rest.prefix { !"/?#\\".utf8.contains($0) }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[at...].dropFirst() }
        if !scheme.isEmpty {
            // A text that looks like a port may be a password, if its @ was forgotten.
            let isAddress = rest.first == UInt8(ascii: "[")
            let end = isAddress ? rest.firstIndex(of: UInt8(ascii: "]")).map { rest.index(after: $0) } : nil
            rest = end.map { rest[..<$0] } ?? rest.prefix { $0 != UInt8(ascii: ":") }
        }
        let kept = scheme + String(decoding: rest, as: UTF8.self)
        let text = kept.quoted
        return kept.utf8.count < utf8.count && !text.hasSuffix("…") ? text + "…" : text
    }
}

extension URL {
    /// Its scheme and host, quoted. A message must not contain any other part of a URL.
    package var quotedAddress: String { absoluteString.quotedAddress }
}
