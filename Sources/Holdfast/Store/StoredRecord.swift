import Crypto
import Foundation

/// What a store keeps: the document exactly as it was signed, in as many parts as its format has, and when it came.
///
/// The octets are a tag, the parts with their lengths, and the SHA-256 of all that: a half-written or damaged record is
/// told from one that somebody changed, which its signatures tell.
struct StoredRecord: Sendable, Equatable {
    /// How the document is proved.
    enum Format: String, Sendable {
        case list
        case challenge
        case trustServer
    }

    var format: Format
    /// The body of the document.
    var body: Data
    /// The header texts of an answer to a challenge.
    var challenge = ""
    var signature = ""
    /// What the server calls this version of the document, for its next question.
    var entityTag = ""
    /// Unsigned, in whole Unix seconds: when the next update is due, and the newest issue time that was seen.
    var nextUpdate: Int64 = 0
    var newestIssue: Int64 = 0

    /// No part is longer; what a storage returns is read within this.
    static let maximumPart = 1 << 30
    private static let tag = Data("holdfast pin store 1\n".utf8)

    var data: Data {
        var data = Self.tag
        let parts = [
            ("format", Data(format.rawValue.utf8)), ("body", body), ("challenge", Data(challenge.utf8)),
            ("signature", Data(signature.utf8)), ("tag", Data(entityTag.utf8)), ("next", Data(String(nextUpdate).utf8)),
            ("issue", Data(String(newestIssue).utf8)),
        ]
        for (name, part) in parts {
            data += Data("\(name) \(part.count)\n".utf8) + part + Data("\n".utf8)
        }
        return data + Data(SHA256.hash(data: data))
    }

    init(format: Format, body: Data) {
        self.format = format
        self.body = body
    }

    /// Reads a record; nil for one that is damaged.
    init?(_ data: Data) {
        let octets = [UInt8](data)
        guard octets.count > SHA256.byteCount, octets.starts(with: Self.tag) else { return nil }
        let end = octets.count - SHA256.byteCount
        guard SHA256.hash(data: octets[..<end]).elementsEqual(octets[end...]) else { return nil }
        var parts: [String: Data] = [:]
        var position = Self.tag.count
        while position < end {
            guard let lineEnd = octets[position..<min(end, position + 64)].firstIndex(of: 0x0A) else { return nil }
            let words = String(decoding: octets[position..<lineEnd], as: UTF8.self).split(separator: " ")
            guard words.count == 2, let length = Int(words[1]), (0...Self.maximumPart).contains(length),
                length < end - lineEnd - 1
            else { return nil }
            parts[String(words[0])] = Data(octets[(lineEnd + 1)..<(lineEnd + 1 + length)])
            position = lineEnd + 1 + length + 1
        }
        func text(_ name: String) -> String { String(decoding: parts[name] ?? Data(), as: UTF8.self) }
        guard let format = Format(rawValue: text("format")), let body = parts["body"] else { return nil }
        self.format = format
        self.body = body
        challenge = text("challenge")
        signature = text("signature")
        entityTag = text("tag")
        nextUpdate = Int64(text("next")) ?? 0
        newestIssue = Int64(text("issue")) ?? 0
    }
}
