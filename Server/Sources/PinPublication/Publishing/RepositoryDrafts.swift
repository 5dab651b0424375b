import HoldfastPublishing
import PinChanges
package import ServerFoundation
import ServerModel

/// The files that holders of a repository's keys need to sign its draft.
package struct RepositoryDrafts: Sendable {
    /// The changes and signatures of the draft.
    package let progress: Publisher.RepositoryProgress
    /// The files of a folder for `holdfastctl repository sign`, sorted by path: those that lead clients to the current
    /// version, and the draft.
    package let files: [(path: String, bytes: [UInt8])]
}

extension Publisher {
    /// Reads the draft for the repository of an app.
    /// - Throws: ``ServerError`` `notFound` for an app without a repository.
    package func repositoryDrafts(of app: AppName) async throws(ServerError) -> RepositoryDrafts {
        let (files, state) = try await existingRepository(of: app)
        var all: [(path: String, bytes: [UInt8])] = RepositoryDraft(state).files.map { ($0.key, Array($0.value)) }
        for (path, bytes) in try await files.served() where state.live?.leads(to: path) ?? true {
            all.append((RepositoryPath.served + path, bytes))
        }
        all.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        return RepositoryDrafts(progress: try Self.progress(of: state), files: all)
    }
}

extension TUFRepositoryState.Live {
    /// Whether clients need a file for the current version; others belong to earlier versions.
    fileprivate func leads(to name: String) -> Bool {
        let digest = Digest(of: Array(pins))
        let named = [
            "metadata/\(snapshot.version).snapshot.json", "metadata/\(targets.version).targets.json",
            "targets/\(digest).pins.json", RepositoryPath.timestamp, RepositoryPath.bundle,
        ]
        return name.hasSuffix(".root.json") || named.contains { $0.utf8.elementsEqual(name.utf8) }
    }
}
