/// Everything that is public, as it was read from all places.
struct PublicState: Sendable {
    /// What was found at a path.
    struct Found: Sendable {
        /// Each document once, with the places where it is.
        var documents: [(bytes: [UInt8], places: [String])] = []
        /// The greatest version that a place has noted.
        var version: Int64 = 0
    }

    /// Files of a public folder that are listed; more is no folder of pins.
    private static let maximumCount = 100_000

    /// By the path.
    private(set) var found: [String: Found] = [:]

    /// Reads all places.
    /// - Parameters:
    ///   - places: where documents are public.
    ///   - paths: the paths to look for where nobody can list what is there.
    /// - Throws: ``ServerError`` `file` if a place cannot be read.
    init(_ places: [PublicPlace], paths: Set<String>) async throws(ServerError) {
        for place in places {
            let listed = place.paths()
            guard listed.count <= Self.maximumCount else {
                throw ServerError(
                    .file, of: place.description, expected: "at most \(Self.maximumCount) files", found: "more",
                    remedy: "Name the folder that the server wrote.")
            }
            // Of what belongs to no app of the backup it counts only that it is there.
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
    /// Where documents of the app and of its canary may be, but for those with a name of their own.
    var possiblePaths: [String] {
        let kinds: [ContentFormat.Kind] = [.list, .pinFile]
        return ReleaseChannel.allCases.compactMap { $0.name(of: self) }.flatMap { name in
            kinds.compactMap { kind in (try? ContentFormat(kind, refresh: 3_600))?.path(of: name) }
        }
    }
}
