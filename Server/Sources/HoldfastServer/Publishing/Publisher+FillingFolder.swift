import Foundation
import Synchronization

/// What the folder of this machine has, as far as this process knows.
final class FilledFolder: Sendable {
    private let versions = Mutex<[Ledger.Name: Ledger.Version]>([:])

    /// What the audit has and the folder is not known to have, each file after those that it names.
    func missing(_ documents: [Ledger.Name: Ledger.Version]) -> [(name: Ledger.Name, version: Ledger.Version)] {
        versions.withLock { known in
            documents.filter { known[$0] != $1 }.map { (name: $0.key, version: $0.value) }
        }.sorted { (RepositoryPath.rank(of: $0.name.name) ?? 0) < (RepositoryPath.rank(of: $1.name.name) ?? 0) }
    }

    func add(_ name: Ledger.Name, _ version: Ledger.Version) { versions.withLock { $0[name] = version } }
}

extension Publisher {
    /// Writes to the folder of this machine what other machines have signed since: of what waits for folders one machine
    /// carries each document, and notes that it arrived. Nothing goes to an older version. On one machine there is nothing
    /// to do.
    /// - Returns: why something could not be written, in words. It is tried again by the next call.
    func fillFolder() async -> [String] {
        guard !catalog.engine.isOfOneMachine else { return [] }
        var (problems, waiting): ([String], Set<AppName>) = ([], [])
        for (name, version) in filled.missing(catalog.ledger.documents) where !waiting.contains(name.app) {
            do throws(ServerError) {
                guard try await fill(name, version) else { continue }
                filled.add(name, version)
            } catch {
                // A newer one is there already.
                guard error.code != .outOfTurn else { continue }
                problems.append("\(name.name): \(error)")
                // What names it must not be there before it.
                if RepositoryPath.rank(of: name.name) != nil { waiting.insert(name.app) }
            }
        }
        return problems
    }

    /// - Returns: whether the folder has it; not if it is no longer the newest.
    private func fill(_ name: Ledger.Name, _ version: Ledger.Version) async throws(ServerError) -> Bool {
        if version.isWithdrawn {
            try folder.remove(name.name, version: version.version)
            return true
        }
        guard try !folder.has(name.name, version: version.version) else { return true }
        let stored = try await catalog.look { session, ledger throws(ServerError) -> Catalog.StoredDocument? in
            guard ledger.documents[name] == version else { return nil }
            return try Catalog.document(name.name, of: name.app, session, ledger)
        }
        guard let stored else { return false }
        try folder.write(stored.octets, at: stored.path, version: stored.version)
        return true
    }
}

extension PublicFolder {
    /// Whether a version of a document was written, and something is there still: mending looks at what it is.
    fileprivate func has(_ path: String, version: Int64) throws(ServerError) -> Bool {
        guard let noted = try self.version(of: path), noted == version else { return false }
        return FileManager.default.fileExists(atPath: url.appending(path: path).path)
    }
}
