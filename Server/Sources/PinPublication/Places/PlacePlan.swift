import Foundation
import ServerFoundation
import ServerModel
import ServerStore

/// The upload plan for a program, in the format of `holdfastctl repository publish --plan --json` (docs/formats.md,
/// Upload plan), and the files next to it. Each object has a condition. A program that checks it does not replace
/// documents that another publisher has published meanwhile.
struct PlacePlan: Sendable {
    /// A document, and the versions that it may replace.
    struct Item: Sendable {
        let document: Catalog.StoredDocument
        let mediaType: String
        /// The SHA-256 of the versions published there before, the newest first.
        let former: [Digest]
    }

    /// The documents, in the order in which they are uploaded.
    let items: [Item]

    /// Sorts the documents, so that clients find all files that a file names.
    init(_ items: [Item]) {
        self.items = items.sorted { one, other in
            let (path, otherPath) = (one.document.path, other.document.path)
            let ranks = (RepositoryPath.rank(of: path) ?? 0, RepositoryPath.rank(of: otherPath) ?? 0)
            return ranks.0 == ranks.1
                ? path.utf8.lexicographicallyPrecedes(otherPath.utf8) : ranks.0 < ranks.1
        }
    }

    private static let folder = "objects"

    /// The canonical bytes of the plan.
    var bytes: [UInt8] {
        let (there, gone) = (items.filter { !$0.document.isWithdrawn }, items.filter(\.document.isWithdrawn))
        return CanonicalJSON.object([
            "version": .integer(1), "isWritten": .boolean(true), "objects": .array(there.map(Self.object)),
            "removed": .array(
                gone.map { item in
                    .object(["path": .text(item.document.path), "replaces": Self.texts(item.former)])
                }),
        ]).bytes
    }

    private static func object(_ item: Item) -> CanonicalJSON {
        let document = item.document
        let isImmutable = isImmutable(document.path)
        var members: [String: CanonicalJSON] = [
            "path": .text(document.path), "file": .text("\(folder)/\(document.path)"),
            "sha256": .text("\(document.digest)"), "bytes": .integer(Int64(document.bytes.count)),
            "contentType": .text(item.mediaType), "cacheControl": .text(cacheControl(of: document.path)),
            "precondition": .text(isImmutable ? "absent" : "unchanged"),
        ]
        if !isImmutable { members["replaces"] = texts(item.former.filter { $0 != document.digest }) }
        return .object(members)
    }

    private static func texts(_ digests: [Digest]) -> CanonicalJSON { .array(digests.map { .text("\($0)") }) }

    private static func isImmutable(_ path: String) -> Bool {
        RepositoryPath.rank(of: path) != nil && RepositoryPath.isImmutable(path)
    }

    private static func cacheControl(of path: String) -> String {
        if isImmutable(path) { return "public, max-age=31536000, immutable" }
        // Clients refuse an old timestamp with a new root if the root replaced the online key.
        return path.hasSuffix(RepositoryPath.timestamp) ? "no-cache" : "public, max-age=60, must-revalidate"
    }

    /// Writes the files into a new folder.
    /// - Throws: ``ServerError`` `file`.
    func write(to url: URL) throws(ServerError) {
        for item in items where !item.document.isWithdrawn {
            let file = url.appending(path: Self.folder).appending(path: item.document.path)
            do {
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                try Data(item.document.bytes).write(to: file)
            } catch {
                throw ServerError(
                    .file, of: url.path, expected: "a folder that can be written", found: "\((error as NSError).code)")
            }
        }
    }
}
