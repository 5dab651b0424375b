import Foundation

/// What to upload to an object store or a CDN so that clients find a repository there: objects with their headers and
/// preconditions, in an order in which the repository verifies after each of them.
///
/// A plan does not contain the files. ``TUFRepositoryFolder/uploadPlan(at:)`` describes what the folder contains, and
/// ``TUFRepositoryFolder/uploadPlan(of:)`` what a publication would write into it.
public struct TUFUploadPlan: Sendable, Hashable {
    /// A condition under which an object may be written. The store has to check it in the same step as the write.
    public enum Precondition: String, Sendable, Hashable, CaseIterable {
        /// Nothing is there (`If-None-Match: *`). If the same octets are there, there is nothing to do.
        case absent
        /// Nothing is there; or one of ``Object/replaces`` is there, and is still there when it is replaced (`If-Match`
        /// with the entity tag of the object that was compared). Otherwise somebody else has published.
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
        /// The condition under which it may be written.
        public let precondition: Precondition
        /// The objects that it may replace, by their SHA-256 in lower-case hexadecimal: what this folder served under
        /// the name before, the newest first. Empty for `absent`.
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
            // old timestamp beside a new root would be refused if the root replaced the online key.
            return object.path == TUFRepositoryFolder.bundleName ? "public, max-age=60, must-revalidate" : "no-cache"
        }
    }

    /// The objects in the order in which they must be uploaded.
    public let objects: [Object]

    init(_ objects: [TUFPublication.Object], replacing former: TUFReplacedFiles) {
        self.objects = objects.map { Object($0, replacing: former[$0.path]) }
    }
}
