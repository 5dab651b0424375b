package import ServerFoundation

/// The paths of a repository's files. Clients find them below `repo/APP/`.
package enum RepositoryPath {
    package static let firstRoot = "metadata/1.root.json"
    package static let timestamp = "metadata/timestamp.json"
    package static let bundle = "bundle.json"
    package static let draftRoot = "draft/root.json"
    package static let draftTargets = "draft/targets.json"
    package static let draftPins = "draft/pins.json"
    /// The folder of the served files in HoldfastPublishing.
    package static let served = "public/"

    package static func prefix(of app: AppName) -> String { "repo/\(app)/" }

    package static func isServed(_ path: String, by app: AppName) -> Bool {
        path.utf8.starts(with: prefix(of: app).utf8)
    }

    /// Whether the file at a path never changes, so that caches may keep it.
    package static func isImmutable(_ path: String) -> Bool {
        !path.hasSuffix(timestamp) && !path.hasSuffix("/\(bundle)")
    }

    /// The writing order, so that clients find all files that a file names: first files with a version in their names,
    /// then the timestamp, then later roots, because the files that they apply to must exist, and last the bundle,
    /// which contains all of them. Nil for paths outside repositories.
    package static func rank(of path: String) -> Int? {
        guard path.utf8.starts(with: "repo/".utf8) else { return nil }
        if path.hasSuffix("/\(timestamp)") { return 1 }
        if path.hasSuffix("/\(bundle)") { return 3 }
        return path.hasSuffix(".root.json") && !path.hasSuffix("/\(firstRoot)") ? 2 : 0
    }

    /// For how many seconds a cache may serve a file without asking. Clients must not get an old timestamp with a new
    /// root.
    package static func refresh(of path: String) -> Int64 {
        if isImmutable(path) { return 31_536_000 }
        return path.hasSuffix(timestamp) ? 0 : 60
    }
}
