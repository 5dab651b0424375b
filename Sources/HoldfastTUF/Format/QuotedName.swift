import Crypto
import Foundation
import Holdfast

/// Encodes names that others chose, so that they are safe in URLs and as file names.
enum QuotedName {
    /// The longest encoded name, in bytes. File systems allow 255, and callers add prefixes and suffixes.
    private static let longestFile = 200

    /// One part of a URL's path. Everything except RFC 3986's unreserved characters (section 2.3) is percent-encoded,
    /// slashes too.
    static func part(_ name: some Sequence<UInt8>) -> String { encoded(name) { isUnreserved($0) } }

    /// A path in a URL. Slashes and percent-encoded bytes are unchanged.
    static func path(_ name: some Sequence<UInt8>) -> String {
        encoded(name) { isUnreserved($0) || pathCharacters.contains($0) }
    }

    /// A file name: one component, never hidden, never `.` or `..`. A name that is too long is replaced by its digest.
    static func file(_ name: [UInt8]) -> String {
        let quoted = part(name)
        guard quoted.utf8.count <= longestFile else { return "sha256-" + HexText.text(of: SHA256.hash(data: name)) }
        return quoted.utf8.first == UInt8(ascii: ".") ? "%2E" + quoted.dropFirst() : quoted
    }

    private static let pathCharacters = Set("/%!$&'()*+,;=:@".utf8)

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func encoded(_ name: some Sequence<UInt8>, _ stays: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for octet in name {
            if stays(octet) {
                text.append(octet)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 0x0F)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The text for messages: the first 200 bytes, quoted.
    var quotedName: String { String(decoding: prefix(200), as: UTF8.self).quoted }
}
