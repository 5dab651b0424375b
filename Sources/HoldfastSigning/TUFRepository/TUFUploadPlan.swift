import Foundation

/// What an object store or a CDN gets so that clients find a repository there: objects with their headers and
/// preconditions, in an order in which clients verify what they find after each of them.
///
/// A plan has no content. ``TUFRepositoryFolder/uploadPlan(at:)`` is of what the folder holds, and
/// ``TUFRepositoryFolder/uploadPlan(of:)`` of what a publication would write into it.
public struct TUFUploadPlan: Sendable, Hashable {
    /// What has to hold where an object is put. The store has to check it in the same step.
    public enum Precondition: String, Sendable, Hashable, CaseIterable {
        /// Nothing is there (`If-None-Match: *`). The same octets are as good: then nothing is to be done.
        case absent
        /// Nothing is there, or it is one of ``Object/replaces``, and is so still when it is replaced (`If-Match` with
        /// the entity tag of what was looked at). Otherwise somebody else has published.
        case unchanged
    }

    /// One object.
    public struct Object: Sendable, Hashable {
        /// Relative to the URL of the repository, such as `metadata/2.root.json`.
        public let path: String
        /// The SHA-256 of its content, in lowercase hexadecimal.
        public let sha256: String
        /// How long its content is.
        public let byteCount: Int
        /// For the header `Cache-Control`.
        public let cacheControl: String
        /// What has to hold where it is put.
        public let precondition: Precondition
        /// What it may take the place of, as SHA-256 in lowercase hexadecimal: what this folder served under the name
        /// before, the newest first. Empty for `absent`.
        public let replaces: [String]

        /// For the header `Content-Type`.
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
            // Nothing depends on the age of a bundle but how soon pins arrive: it is one state as a whole. An old
            // timestamp beside the next root is refused where the root has replaced the online key.
            return object.path == TUFRepositoryFolder.bundleName ? "public, max-age=60, must-revalidate" : "no-cache"
        }
    }

    /// In the order in which they are put.
    public let objects: [Object]

    init(_ objects: [TUFPublication.Object], replacing former: TUFReplacedFiles) {
        self.objects = objects.map { Object($0, replacing: former[$0.path]) }
    }
}
