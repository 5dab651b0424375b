import Crypto
import Foundation

/// 32 bytes that take the place of a digest in configurations: those that a person typed to fill a field, and the
/// SHA-256 of something that is not a key, such as the empty output of a failed openssl pipeline.
package struct PlaceholderDigest: Sendable, Hashable {
    /// A description of its origin.
    package let text: String

    /// - Parameter digest: 32 bytes. The result is nil for everything that may be the digest of a key.
    package init?(_ digest: [UInt8]) {
        if let known = Self.known[digest] {
            text = known
        } else if digest.allSatisfy({ $0 == digest.first }) {
            text = digest.first == 0 ? "32 zero bytes" : "the same byte 32 times"
        } else if Self.hasPattern(digest) {
            text = "a pattern that repeats"
        } else if digest.suffix(Self.filling).allSatisfy({ $0 == 0 })
            || digest.prefix(Self.filling).allSatisfy({ $0 == 0 })
        {
            text = "a shorter value that was filled up with zero bytes"
        } else if digest.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            text = "text in place of a digest"
        } else if let word = Self.word(in: digest) {
            text = "the word \(word) in Base64"
        } else {
            return nil
        }
    }

    /// Zero bytes at one end that are no accident: a SHA-1 leaves 12 of 32. A digest has 8 by accident once in 2^63.
    private static let filling = 8

    /// The last byte is ignored: Base64 ends in a character with four bits, which may not fit a repeated character. A
    /// digest has such a pattern by accident once in 2^120.
    private static func hasPattern(_ digest: [UInt8]) -> Bool {
        let octets = digest.dropLast()
        if (1...15).contains(where: { period in zip(octets, octets.dropFirst(period)).allSatisfy { $0 == $1 } }) {
            return true
        }
        guard octets.count > 1 else { return false }
        let step = octets[1] &- octets[0]
        return zip(octets, octets.dropFirst()).allSatisfy { $1 &- $0 == step }
    }

    /// A word that people write into a Base64 field. A digest contains one of these by accident once in 2^30, and
    /// consists of printable text once in 2^45.
    private static func word(in digest: [UInt8]) -> String? {
        let text = Data(digest).base64EncodedString().lowercased()
        return words.first { text.contains($0) }
    }

    private static let words = [
        "placeholder", "changeme", "replaceme", "backuppin", "backupkey", "yourhash", "yourpinhere", "yourkeyhash",
        "examplepin", "examplekey", "exampleh", "dummypin", "dummykey", "insertpin", "inserthash", "notarealpin",
    ]

    private static let known: [[UInt8]: String] = {
        var known: [[UInt8]: String] = [:]
        // An empty SEQUENCE and an empty key: the input of a template for DER that has no key yet.
        let encodings: [(bytes: [UInt8], words: String)] = [
            ([], "the SHA-256 of nothing, which a failed command leaves behind"),
            ([0x0A], "the SHA-256 of an empty line"), ([0x0D, 0x0A], "the SHA-256 of an empty line"),
            ([0x00], "the SHA-256 of a zero byte"), ([0x05, 0x00], "the SHA-256 of an empty DER value"),
            ([0x30, 0x00], "the SHA-256 of an empty DER value"), ([0x03, 0x01, 0x00], "the SHA-256 of an empty key"),
            ([0x03, 0x00], "the SHA-256 of an empty key"),
            ([UInt8](repeating: 0, count: 32), "the SHA-256 of 32 zero bytes"),
            ([UInt8](repeating: 0xFF, count: 32), "the SHA-256 of the same byte 32 times"),
            ([0x20], "the SHA-256 of a space"), ([0x0A, 0x0A], "the SHA-256 of an empty line"),
            (Array("{}".utf8), "the SHA-256 of an empty object"), (Array("[]".utf8), "the SHA-256 of an empty list"),
            (Array(SHA256.hash(data: [])), "the SHA-256 of nothing, hashed twice"),
            (
                Array(Data(SHA256.hash(data: [])).base64EncodedString().utf8),
                "the SHA-256 of the SHA-256 of nothing in Base64"
            ),
        ]
        for (bytes, words) in encodings { known[Array(SHA256.hash(data: bytes))] = words }
        for text in texts {
            for end in ["", "\n", "\r\n"] {
                known[Array(SHA256.hash(data: Array("\(text)\(end)".utf8)))] = "the SHA-256 of the text \(text)"
            }
        }
        return known
    }()

    private static let texts = [
        "a", "A", "b", "0", "1", "x", "abc", "foo", "bar", "baz", "key", "pin", "key1", "key2", "pin1", "pin2", "test",
        "Test", "TEST", "test1", "test2", "hello", "Hello", "hello world", "Hello World", "Hello, World!",
        "hello, world", "backup", "Backup", "backup key", "backup pin", "backupkey", "backup-key", "placeholder",
        "PLACEHOLDER", "dummy", "fake", "changeme", "password", "secret", "example", "example.com", "TODO", "null",
        "nil",
        "none", "undefined", "123", "1234", "12345", "123456", "1234567890", "qwerty", "admin", "cert", "certificate",
        "public key", "publickey", "server", "localhost", "www.example.com", "foobar", "deadbeef", "pinning", "my key",
        "secondary", "spare", "unused", "todo", "x.509", "openssl",
    ]
}
