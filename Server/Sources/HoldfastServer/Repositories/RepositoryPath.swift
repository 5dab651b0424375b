/// Where the files of a repository are: clients find them below `repo/APP/`.
enum RepositoryPath {
    static let firstRoot = "metadata/1.root.json"
    static let timestamp = "metadata/timestamp.json"
    static let bundle = "bundle.json"
    static let draftRoot = "draft/root.json"
    static let draftTargets = "draft/targets.json"
    static let draftPins = "draft/pins.json"
    /// What the code of HoldfastPublishing calls the files that are served.
    static let served = "public/"

    static func prefix(of app: AppName) -> String { "repo/\(app)/" }

    static func isServed(_ path: String, by app: AppName) -> Bool {
        path.utf8.starts(with: prefix(of: app).utf8)
    }

    /// Whether other content is never served under the name: caches may keep it.
    static func isImmutable(_ path: String) -> Bool {
        !path.hasSuffix(timestamp) && !path.hasSuffix("/\(bundle)")
    }

    /// The order in which files are written, so that clients find what a file names: everything with a version in its name,
    /// the timestamp, later roots, since what they apply to must be there, and the bundle, which has all of it. Nil for
    /// files of no repository.
    static func rank(of path: String) -> Int? {
        guard path.utf8.starts(with: "repo/".utf8) else { return nil }
        if path.hasSuffix("/\(timestamp)") { return 1 }
        if path.hasSuffix("/\(bundle)") { return 3 }
        return path.hasSuffix(".root.json") && !path.hasSuffix("/\(firstRoot)") ? 2 : 0
    }

    /// For how many seconds a cache may serve a file without asking: no old timestamp may stand beside a new root.
    static func refresh(of path: String) -> Int64 {
        if isImmutable(path) { return 31_536_000 }
        return path.hasSuffix(timestamp) ? 0 : 60
    }
}
