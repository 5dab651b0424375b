import PinChanges
import PinPublication
import ServerFoundation
import ServerModel

/// All public documents, as read from all destinations.
struct PublicState: Sendable {
    /// The public documents at a path.
    struct Found: Sendable {
        /// Each document once, with the destinations that have it.
        var documents: [(bytes: [UInt8], places: [String])] = []
        /// The maximum version that a destination has noted.
        var version: Int64 = 0
    }

    /// The maximum number of files in a public folder. A folder with more is not the server's.
    private static let maximumCount = 100_000

    /// The findings by path.
    private(set) var found: [String: Found] = [:]

    /// Reads all destinations.
    /// - Parameters:
    ///   - places: where documents are public.
    ///   - paths: the paths to read in destinations that cannot be listed.
    /// - Throws: ``ServerError`` `file` if a destination cannot be read.
    init(_ places: [PublicPlace], paths: Set<String>) async throws(ServerError) {
        for place in places {
            let listed = place.paths()
            guard listed.count <= Self.maximumCount else {
                throw ServerError(
                    .file, of: place.description, expected: "at most \(Self.maximumCount) files", found: "more",
                    remedy: "Name the folder that the server wrote.")
            }
            // A path of no app in the backup only needs a note that it exists.
            for path in listed where !paths.contains(path) && found[path] == nil { found[path] = Found() }
            for path in paths.union(listed) {
                if let version = try place.version(of: path) {
                    found[path, default: Found()].version = max(version, found[path]?.version ?? 0)
                }
                guard paths.contains(path), let bytes = try await place.read(path) else { continue }
                add(bytes, path, place.description)
            }
        }
    }

    private mutating func add(_ bytes: [UInt8], _ path: String, _ place: String) {
        var entry = found[path] ?? Found()
        if let index = entry.documents.firstIndex(where: { $0.bytes == bytes }) {
            entry.documents[index].places.append(place)
        } else {
            entry.documents.append((bytes, [place]))
        }
        found[path] = entry
    }
}

extension AppName {
    /// The paths at which documents of the app and of its canary may be, except formats with configurable names.
    var possiblePaths: [String] {
        let kinds: [ContentFormat.Kind] = [.list, .pinFile]
        return ReleaseChannel.allCases.compactMap { $0.name(of: self) }.flatMap { name in
            kinds.compactMap { kind in (try? ContentFormat(kind, refresh: 3_600))?.path(of: name) }
        }
    }
}
