import Foundation
import Holdfast
import HoldfastTUF

/// Serves a repository from its storage, together with files that are not written yet.
struct TUFStorageSource<Storage: TUFRepositoryStorage>: RepositorySource {
    let storage: Storage
    /// Files that are not written yet, by their paths relative to the served folder.
    var written: [String: Data] = [:]

    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data? {
        // The names are the repository's own, so none of them needs percent-encoding.
        let path = "\(file.kind == .metadata ? "metadata" : "targets")/\(file.path)"
        if let data = written[path] { return data.count <= limit ? data : nil }
        return try await storage.data(at: TUFStoragePath.served(path), atMost: limit)
    }
}

/// A client that stores nothing on disk, like a device on which the app was never launched.
struct TUFRehearsalClient {
    /// More roots than clients download in one update, because clients continue with their next update.
    static let settings = TUFSettings(rootRotations: 1_024)

    private let memory = MetadataMemory()
    private let root: Data

    /// - Parameter root: the root metadata that the app shipped with.
    init(root: Data) { self.root = root }

    /// Runs an update, including the pin file.
    /// - Returns: the content of the pin file.
    func pins(from source: some RepositorySource, at time: Date) async throws(TUFError) -> Data {
        let client = TUFClient(
            store: memory, source: source, trustedRoot: root, settings: Self.settings,
            clock: TUFFixedClock(now: time))
        let update = try await client.refresh()
        return try await update.data(of: update.target(TUFContents.target))
    }
}
