package import Foundation
import Holdfast
import HoldfastTUF

/// Serves a repository from its folder, with some files that are yet to be written.
struct TUFFolderSource: RepositorySource {
    let folder: URL
    /// By their paths in the folder.
    var written: [String: Data] = [:]

    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data? {
        // The names are the repository's own: nothing in them is percent-encoded.
        try data("\(file.kind == .metadata ? "metadata" : "targets")/\(file.path)", atMost: limit)
    }

    func data(_ path: String, atMost limit: Int) throws -> Data? {
        if let data = written[path] { return data.count <= limit ? data : nil }
        return try AtomicFile.readIfRegular(folder.appending(path: path), maximumBytes: limit)
    }
}

/// Shows one time.
package struct TUFFixedClock: WallClock {
    package let now: Date

    package init(now: Date) { self.now = now }

    /// Before anything expires.
    static let beforeEverything = TUFFixedClock(now: .distantPast)
}

/// A client that keeps nothing beyond the process, as every device is before the first time.
struct TUFRehearsalClient {
    /// More roots than clients take in one update: they go on from there in the next.
    static let settings = TUFSettings(rootRotations: 1_024)

    private let memory = MetadataMemory()
    private let root: Data

    /// - Parameter root: what the app came with.
    init(root: Data) { self.root = root }

    /// Goes through an update, down to the pin file.
    /// - Returns: the octets of the pin file.
    func pins(from source: TUFFolderSource, at time: Date) async throws(TUFError) -> Data {
        let client = TUFClient(
            store: memory, source: source, trustedRoot: root, settings: Self.settings,
            clock: TUFFixedClock(now: time))
        let update = try await client.refresh()
        return try await update.data(of: update.target(TUFContents.target))
    }
}
