import Foundation
import Holdfast
import HoldfastTUF

/// The objects to upload to an object store or a CDN, with their headers and preconditions, in an order in which the
/// repository verifies after each of them.
///
/// Encoded, an object has the fields that docs/formats.md lists for `--plan`: `path`, `sha256`, `bytes`,
/// `cacheControl`, `precondition`, `replaces`. A stored plan is checked when it is decoded.
///
/// A plan does not contain the files. ``TUFRepositoryStorage/uploadPlan(at:)`` describes the content of a storage, and
/// ``TUFRepositoryStorage/uploadPlan(of:)`` the files that a publication would write into it.
public struct TUFUploadPlan: Sendable, Hashable, Codable {
    /// A condition for writing an object. The store has to check it in the same step as the write.
    public enum Precondition: String, Sendable, Hashable, CaseIterable, Codable {
        /// The object does not exist (`If-None-Match: *`). If it exists with the same content, nothing needs to be
        /// done.
        case absent
        /// The object does not exist; or it is one of ``Object/replaces``, and still is when it is replaced (`If-Match`
        /// with the entity tag of the object that was compared). Otherwise another publication took place.
        case unchanged
    }

    /// One object.
    public struct Object: Sendable, Hashable {
        /// The path relative to the URL of the repository, such as `metadata/2.root.json`.
        public let path: String
        /// The SHA-256 of its content, in lower-case hexadecimal.
        public let sha256: String
        /// The length of its content, in bytes.
        public let byteCount: Int
        /// The value of the header `Cache-Control`.
        public let cacheControl: String
        /// The condition for writing it.
        public let precondition: Precondition
        /// The objects that it may replace, by their SHA-256 in lower-case hexadecimal: the earlier files of this
        /// storage under the name, the newest first. Empty for `absent`.
        public let replaces: [String]

        /// The value of the header `Content-Type`.
        public var contentType: String { "application/json" }

        fileprivate init(_ object: TUFPublication.Object, replacing former: [String]) {
            path = object.path
            sha256 = TUFContents.digest(object.data)
            byteCount = object.data.count
            cacheControl = Self.cacheControl(of: object)
            precondition = object.isImmutable ? .absent : .unchanged
            replaces = object.isImmutable ? [] : former.filter { [sha256] in $0 != sha256 }
        }

        private static func cacheControl(of object: TUFPublication.Object) -> String {
            if object.isImmutable { return "public, max-age=31536000, immutable" }
            // The age of a bundle affects only how soon new pins arrive, because the bundle is a consistent whole. An
            // old timestamp next to a new root would be refused if the root replaced the online key.
            return object.path == TUFStoragePath.bundleName ? "public, max-age=60, must-revalidate" : "no-cache"
        }
    }

    /// The objects in the order in which they must be uploaded.
    public let objects: [Object]

    private enum CodingKeys: String, CodingKey {
        case objects
    }

    init(_ objects: [TUFPublication.Object], replacing former: TUFReplacedFiles) {
        self.objects = objects.map { Object($0, replacing: former[$0.path]) }
    }
}

extension TUFUploadPlan.Object: Codable {
    private enum CodingKeys: String, CodingKey {
        case path, sha256
        case byteCount = "bytes"
        case cacheControl, precondition, replaces
    }

    /// Reads an object again.
    /// - Throws: `DecodingError` if a plan cannot have such an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func checked<Value>(_ value: Value, _ key: CodingKeys, _ isValid: (Value) -> Bool) throws -> Value {
            guard isValid(value) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "not what an upload plan can have")
            }
            return value
        }
        func isDigest(_ text: String) -> Bool { HexText.octets(of: text.utf8)?.count == 32 }
        path = try checked(try container.decode(String.self, forKey: .path), .path, Self.isPath)
        sha256 = try checked(try container.decode(String.self, forKey: .sha256), .sha256, isDigest)
        byteCount = try checked(try container.decode(Int.self, forKey: .byteCount), .byteCount) { $0 >= 0 }
        cacheControl = try container.decode(String.self, forKey: .cacheControl)
        precondition = try container.decode(TUFUploadPlan.Precondition.self, forKey: .precondition)
        let former = try container.decode([String].self, forKey: .replaces)
        replaces = try checked(former, .replaces) { $0.allSatisfy(isDigest) }
    }

    /// Whether the path stays within the repository after it is joined to any base: each part has letters, digits,
    /// periods, hyphens and underscores, and does not begin with a period.
    private static func isPath(_ path: String) -> Bool {
        path.utf8.count <= 256
            && path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
                part.first.map { $0 != UInt8(ascii: ".") } ?? false
                    && part.allSatisfy { octet in
                        switch octet {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                            UInt8(ascii: "_"):
                            true
                        default: false
                        }
                    }
            }
    }
}
