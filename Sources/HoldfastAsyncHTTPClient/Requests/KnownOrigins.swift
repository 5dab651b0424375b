import Holdfast

/// Origins by the text of their URLs, so that each scheme, host and port is parsed only once.
///
/// Only texts that every URL parser reads alike are looked up: scheme and host in lower-case ASCII, no
/// percent-encoding, no user and no fragment.
final class KnownOrigins: Sendable {
    private let origins = Lock<[String: HTTPOrigin]>([:])
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { origins.withLock { $0.count } }

    subscript(authority: String) -> HTTPOrigin? {
        get { origins.withLock { $0[authority] } }
        set {
            origins.withLock { origins in
                if origins.count >= capacity { _ = origins.popFirst() }
                origins[authority] = newValue
            }
        }
    }

    /// Everything before the path of a URL; nil unless it is written in the simplest form.
    static func authority(of url: String) -> String? {
        let octets = url.utf8
        guard let separator = ["https://", "http://"].first(where: { url.utf8.starts(with: $0.utf8) }) else {
            return nil
        }
        var end = octets.index(octets.startIndex, offsetBy: separator.utf8.count)
        while end < octets.endIndex, isHost(octets[end]) { octets.formIndex(after: &end) }
        if end < octets.endIndex, octets[end] == UInt8(ascii: ":") {
            octets.formIndex(after: &end)
            while end < octets.endIndex, isDigit(octets[end]) { octets.formIndex(after: &end) }
        }
        let authority = octets[..<end]
        guard authority.count <= longest else { return nil }
        let rest = octets[end...]
        guard let first = rest.first else { return url }
        guard first == UInt8(ascii: "/") || first == UInt8(ascii: "?"), rest.allSatisfy(isPlain) else { return nil }
        return String(authority)
    }

    /// A name has at most 253 characters.
    private static let longest = 280

    private static func isDigit(_ octet: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= octet }

    private static func isLetter(_ octet: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= octet }

    private static func isHost(_ octet: UInt8) -> Bool {
        isLetter(octet) || isDigit(octet) || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "-")
    }

    /// The characters that RFC 3986 3.3 and 3.4 allow unescaped in paths and queries, except colon and at sign.
    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"):
            true
        default: isHost(octet) || isLetter(octet | 0x20)
        }
    }
}
