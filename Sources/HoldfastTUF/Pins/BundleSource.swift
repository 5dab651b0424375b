import Foundation

/// Serves the files of a repository from its bundle, so that the same workflow verifies bundled and downloaded files.
struct BundleSource: RepositorySource {
    let bundle: RepositoryBundle

    /// A file by its role. The workflow checks whether it has the requested version.
    func data(of file: RepositoryFile, atMost limit: Int) async -> Data? {
        guard file.kind == .metadata else { return bundle.pins }
        // `ROLE.json` or `VERSION.ROLE.json`.
        let parts = file.path.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { return nil }
        switch parts[parts.count - 2] {
        case "root": return Int64(parts[0]).flatMap { bundle.root(version: $0) }
        case "timestamp": return bundle.timestamp
        case "snapshot": return bundle.snapshot
        case "targets": return bundle.targets
        default: return nil
        }
    }
}
