package import Foundation
import Holdfast

/// The apparent kind of a document. Only its reader can decide if it is valid.
package enum DocumentKind: String, Sendable, Encodable {
    case pinFile, signedList, listEntry, challengeAnswer, trustServerDocument, metadata, bundle, pem, der, text

    package init(_ data: Data) {
        let space = Set(" \t\r\n".utf8)
        let start = data.first { !space.contains($0) }
        switch start {
        case UInt8(ascii: "{"): self = Self.json(data)
        case 0x30 where data.first == 0x30: self = Self.isSignedData(data) ? .trustServerDocument : .der
        default: self = data.range(of: Data("-----BEGIN ".utf8)) == nil ? .text : .pem
        }
    }

    /// The kind of document, for messages.
    package var description: String {
        switch self {
        case .pinFile: "pin file"
        case .signedList: "signed list"
        case .listEntry: "entry of a list"
        case .challengeAnswer: "answer to a challenge"
        case .trustServerDocument: "trust-server document"
        case .metadata: "metadata of The Update Framework"
        case .bundle: "bundle of a repository of pins"
        case .pem: "PEM"
        case .der: "DER"
        case .text: "text"
        }
    }

    /// Recognizes JSON by the keys of the outermost object.
    private static func json(_ data: Data) -> DocumentKind {
        var keys: Set<[UInt8]> = []
        do {
            var reader = try StrictJSONReader([UInt8](data), maximumBytes: DocumentLimits().bytes)
            try reader.beginObject()
            while let key = try reader.nextKeyOctets(atMost: 64) {
                keys.insert(Array(key))
                try reader.skipValue()
            }
        } catch {
            // The keys before the error are enough to recognize the kind.
        }
        func has(_ key: String) -> Bool { keys.contains(Array(key.utf8)) }
        if has("signed") || has("signatures") { return .metadata }
        if has("firstRoot") || has("roots") { return .bundle }
        if has("schema") || has("hosts") { return .pinFile }
        if has("fingerprints") { return has("timestamp") ? .challengeAnswer : .signedList }
        if has("fingerprint") { return .listEntry }
        return has("timestamp") ? .challengeAnswer : .pinFile
    }

    /// Whether it begins like a ContentInfo with signed data (RFC 5652 3, 5.1). The length may have any form, including
    /// BER's indefinite one.
    private static func isSignedData(_ data: Data) -> Bool {
        let head = Array(data.prefix(40))
        guard head.count > 2 else { return false }
        let lengthOctets = head[1] <= 0x80 ? 1 : 1 + Int(head[1] & 0x7F)
        return head.dropFirst(1 + lengthOctets).starts(with: [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2])
    }
}
