import Crypto
package import Foundation

/// The record that a store keeps: the document exactly as it was signed, in as many parts as its format has, and its
/// dates.
///
/// The record consists of a tag, the parts with their lengths, and the SHA-256 of all these. The digest detects
/// half-written and damaged records; the signatures detect forged ones.
package struct StoredRecord: Sendable, Equatable {
    /// How the document is authenticated.
    package enum Format: String, Sendable, CaseIterable {
        case list
        case challenge
        case trustServer
        case repository
        case revocationList
        case revocationPlaces
        case logList
        case attempts
    }

    var format: Format
    /// The origin of the store to which it belongs, see ``origin(of:)``.
    var origin: [UInt8] = []
    /// The body of the document.
    package var body: Data
    /// The header texts of a response to a challenge.
    var challenge = ""
    var signature = ""
    /// The server's entity tag of this version of the document, for the next request.
    package var entityTag = ""
    /// Unsigned dates, in whole Unix seconds: the time of the next update, and the newest issue time that was seen.
    var nextUpdate: Int64 = 0
    var newestIssue: Int64 = 0

    /// The maximum size of a part; a storage's data is read within this limit.
    static let maximumPart = 1 << 30
    /// Bytes of the digest at the end.
    static let digestLength = SHA256.byteCount
    private static let tag = Data("holdfast pin store 2\n".utf8)

    /// A digest of the values that distinguish two stores: kinds, addresses, keys.
    package static func origin(of parts: [[UInt8]]) -> [UInt8] {
        // The length of each part comes first, so that two different lists of parts never have the same bytes.
        SHA256Digest.of(parts.flatMap { Array("\($0.count) ".utf8) + $0 })
    }

    var data: Data {
        var data = Self.tag
        let parts = [
            ("format", Data(format.rawValue.utf8)), ("origin", Data(origin)), ("body", body),
            ("challenge", Data(challenge.utf8)), ("signature", Data(signature.utf8)), ("tag", Data(entityTag.utf8)),
            ("next", Data(String(nextUpdate).utf8)), ("issue", Data(String(newestIssue).utf8)),
        ]
        for (name, part) in parts {
            data += Data("\(name) \(part.count)\n".utf8) + part + Data("\n".utf8)
        }
        return data + Data(SHA256.hash(data: data))
    }

    package init(format: Format, body: Data) {
        self.format = format
        self.body = body
    }

    /// Reads a record; the result is nil for one that is damaged, or that another version of Holdfast wrote.
    init?(_ data: Data) {
        let octets = [UInt8](data)
        guard octets.count > SHA256.byteCount, octets.starts(with: Self.tag) else { return nil }
        let end = octets.count - SHA256.byteCount
        guard SHA256.hash(data: octets[..<end]).elementsEqual(octets[end...]) else { return nil }
        var rest = octets[Self.tag.count..<end]
        guard let format = Self.next("format", of: &rest).flatMap(Self.format),
            let origin = Self.next("origin", of: &rest),
            let body = Self.next("body", of: &rest), let challenge = Self.next("challenge", of: &rest),
            let signature = Self.next("signature", of: &rest), let entityTag = Self.next("tag", of: &rest),
            let nextUpdate = Self.next("next", of: &rest).flatMap(Self.number),
            let newestIssue = Self.next("issue", of: &rest).flatMap(Self.number), rest.isEmpty
        else { return nil }
        self.format = format
        self.origin = Array(origin)
        self.body = Data(body)
        self.challenge = String(decoding: challenge, as: UTF8.self)
        self.signature = String(decoding: signature, as: UTF8.self)
        self.entityTag = String(decoding: entityTag, as: UTF8.self)
        self.nextUpdate = nextUpdate
        self.newestIssue = newestIssue
    }

    /// Reads the next part, `name length LF bytes LF`.
    private static func next(_ name: String, of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let lineEnd = rest.prefix(64).firstIndex(of: 0x0A) else { return nil }
        let start = Array("\(name) ".utf8)
        let line = rest[..<lineEnd]
        guard line.starts(with: start), let length = number(line.dropFirst(start.count)),
            (0...Int64(maximumPart)).contains(length), length < rest.endIndex - lineEnd - 1
        else { return nil }
        let part = rest[(lineEnd + 1)...].prefix(Int(length))
        guard rest[part.endIndex] == 0x0A else { return nil }
        rest = rest[(part.endIndex + 1)...]
        return part
    }

    private static func format(_ octets: ArraySlice<UInt8>) -> Format? {
        Format.allCases.first { $0.rawValue.utf8.elementsEqual(octets) }
    }

    private static func number(_ octets: ArraySlice<UInt8>) -> Int64? {
        octets.count <= 20 ? Int64(String(decoding: octets, as: UTF8.self)) : nil
    }
}
