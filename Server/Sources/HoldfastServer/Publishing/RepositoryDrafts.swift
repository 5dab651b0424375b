import HoldfastPublishing

/// What the holders of a repository's keys need to sign what is prepared.
struct RepositoryDrafts: Sendable {
    /// What is prepared, in words, and who has signed it.
    let progress: Publisher.RepositoryProgress
    /// The files of a folder as `holdfastctl repository sign` takes it, sorted by path: what clients are led to now, and
    /// what is prepared.
    let files: [(path: String, bytes: [UInt8])]
}

extension Publisher {
    /// Reads what is prepared for the repository of an app.
    /// - Throws: ``ServerError`` `notFound` for an app without a repository.
    func repositoryDrafts(of app: AppName) async throws(ServerError) -> RepositoryDrafts {
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
    /// Whether clients come to a file now; others are of earlier versions.
    fileprivate func leads(to name: String) -> Bool {
        let digest = Digest(of: Array(pins))
        let named = [
            "metadata/\(snapshot.version).snapshot.json", "metadata/\(targets.version).targets.json",
            "targets/\(digest).pins.json", RepositoryPath.timestamp, RepositoryPath.bundle,
        ]
        return name.hasSuffix(".root.json") || named.contains { $0.utf8.elementsEqual(name.utf8) }
    }
}
