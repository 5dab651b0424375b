package import Foundation
package import HoldfastPublishing
package import ServerFoundation
import ServerModel

/// The draft for the repository of an app, with the signatures that it has so far (`holdfast-repository-draft-v1`).
package struct RepositoryDraft: Sendable, Hashable {
    /// The next root file; nil for none.
    package var root: [UInt8]?
    /// The next targets file; nil for none.
    package var targets: [UInt8]?
    /// The pin file that the targets list; nil for none.
    package var pins: [UInt8]?
    /// The files that another publisher served before, by paths below `repo/APP/`. Clients have them, so the first
    /// publication continues from them, and they are served from then on. Empty after the first publication.
    package var taken: [String: [UInt8]] = [:]

    package static let empty = RepositoryDraft()

    private static let name = "holdfast-repository-draft-v1"
    /// The maximum size of a file that clients accept.
    package static let maximumFile = 8 << 20
    private static let maximumSize = 4 * maximumFile
    /// The maximum of imported files and bytes: enough for a root that was changed as often as clients follow.
    private static let maximumTaken = (files: 1_024, bytes: 12 << 20)

    private init() {}

    /// Imports the files of another publisher.
    /// - Throws: ``ServerError`` `notPublishable` for more than can be stored.
    package init(taken files: [String: [UInt8]]) throws(ServerError) {
        let bytes = files.values.reduce(0) { $0 + $1.count }
        guard files.count <= Self.maximumTaken.files, bytes <= Self.maximumTaken.bytes else {
            throw ServerError(
                .notPublishable, of: "repository",
                expected: "at most \(Self.maximumTaken.files) files and \(Self.maximumTaken.bytes) bytes",
                found: "\(files.count) files and \(bytes) bytes")
        }
        taken = files
    }

    /// Takes the drafts of a repository's state.
    /// - Parameter taken: the files that another publisher served before.
    package init(_ state: TUFRepositoryState, taken: [String: [UInt8]] = [:]) {
        self.taken = taken
        root = state.draftRoot.map { Array($0.data) }
        targets = state.draftTargets.map { Array($0.data) }
        pins = state.draftPins.map(Array.init)
    }

    /// Reads a draft.
    /// - Throws: ``ServerError`` `malformed`.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        let subject = "repository draft"
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, subject, limit: Self.maximumSize), subject)
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        func file(_ key: String) throws(ServerError) -> [UInt8]? {
            guard let text = try fields.optionalText(key) else { return nil }
            guard let bytes = Base64.decode(text) else { throw fields.invalid(key, "Base64") }
            return bytes
        }
        root = try file("root")
        targets = try file("targets")
        pins = try file("pins")
        let all = try fields.optionalArray("taken", atMost: Self.maximumTaken.files) {
            value, path throws(ServerError) in
            var fields = try JSONFields(value, path)
            let name = try fields.text("path", "a path") { ASCIIText.isPrintable($0, 1...255) ? Array($0) : nil }
            let bytes = try fields.text("octets", "Base64") { Base64.decode($0) }
            try fields.finish()
            return (String(decoding: name, as: UTF8.self), bytes)
        }
        try fields.finish()
        taken = Dictionary(all ?? []) { first, _ in first }
    }

    /// The canonical bytes.
    package var bytes: [UInt8] {
        var members: [String: CanonicalJSON] = ["format": .text(Self.name)]
        for (key, file) in [("root", root), ("targets", targets), ("pins", pins)] {
            if let file { members[key] = .text(Base64.encode(file)) }
        }
        if !taken.isEmpty {
            let sorted = taken.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            members["taken"] = .array(
                sorted.map { .object(["path": .text($0.key), "octets": .text(Base64.encode($0.value))]) })
        }
        return CanonicalJSON.object(members).bytes
    }

    /// This draft, with missing files from another one. Pins always come with the targets that list them.
    package func completed(with other: RepositoryDraft) -> RepositoryDraft {
        var whole = self
        whole.root = root ?? other.root
        if targets == nil { whole.targets = other.targets }
        if targets == nil || pins == nil { whole.pins = other.pins }
        return whole
    }

    /// This draft, with the signatures of another copy of equal content: holders may sign at the same time.
    package func merging(_ other: RepositoryDraft) -> RepositoryDraft {
        var merged = self
        merged.root = Self.merging(root, other.root)
        merged.targets = Self.merging(targets, other.targets)
        return merged
    }

    /// Whether both files have equal content, regardless of their signatures.
    package static func isSame(_ one: [UInt8], _ other: [UInt8]?) -> Bool {
        guard let said = content(of: one), let other else { return false }
        return said == content(of: other)
    }

    private static func merging(_ new: [UInt8]?, _ old: [UInt8]?) -> [UInt8]? {
        guard let new, let old, isSame(new, old), var object = parsed(new),
            let others = parsed(old)?["signatures"] as? [[String: Any]],
            var signatures = object["signatures"] as? [[String: Any]]
        else { return new }
        let known = Set(signatures.compactMap { $0["keyid"] as? String })
        let added = others.filter { !known.contains($0["keyid"] as? String ?? "") }
        guard !added.isEmpty else { return new }
        signatures += added
        object["signatures"] = signatures
        return data(object).map { Array($0) } ?? new
    }

    private static func parsed(_ file: [UInt8]) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(file))) as? [String: Any]
    }

    private static func content(of file: [UInt8]) -> Data? {
        guard let signed = parsed(file)?["signed"] as? [String: Any] else { return nil }
        return data(signed)
    }

    private static func data(_ object: [String: Any]) -> Data? {
        try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The files by their paths in HoldfastPublishing.
    package var files: [String: Data] {
        let all = [
            (RepositoryPath.draftRoot, root), (RepositoryPath.draftTargets, targets), (RepositoryPath.draftPins, pins),
        ]
        var files: [String: Data] = [:]
        for (path, bytes) in all { if let bytes { files[path] = Data(bytes) } }
        return files
    }
}
