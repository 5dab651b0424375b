import Holdfast

extension Publisher {
    /// A document that has arrived in the folder.
    private struct Arrived: Sendable {
        let name: Ledger.Name
        let version: Ledger.Version

        var path: String { name.name }
        var rank: Int { RepositoryPath.rank(of: path) ?? 0 }
    }

    /// Writes again what has arrived in the folder and is no longer there as it was signed: somebody removed or changed a
    /// file. Web servers would serve that until the next version, which a list may not have for months. What is still on
    /// its way is left to ``deliver()``.
    /// - Returns: the paths of what was written again, without what another machine signed and this folder never had; and
    ///   why others could not be, in words.
    /// - Throws: ``ServerError`` of the database.
    public func mendFolder() async throws(ServerError) -> Delivery {
        var delivery = Delivery()
        let arrived = try await catalog.look { session, ledger throws(ServerError) in
            var arrived: [Arrived] = []
            for row in try session.run(
                "SELECT app, format, version FROM outbox WHERE place = $1 AND state = 'confirmed'",
                [.text(Catalog.folderPlace)])
            {
                let name = Ledger.Name(app: try row.text(0) { AppName(octets: $0) }, name: try row.text(1))
                guard let version = ledger.documents[name], version.version == (try row.integer(2)),
                    !version.isWithdrawn
                else { continue }
                arrived.append(Arrived(name: name, version: version))
            }
            return arrived
        }
        // What a file of a repository names is there before it.
        for document in arrived.sorted(by: { $0.rank < $1.rank }) {
            do throws(ServerError) {
                if let octets = try? folder.read(document.path), Digest(of: octets) == document.version.digest {
                    continue
                }
                guard let stored = try await stored(document) else { continue }
                // Another machine signed it, and this folder has never had it.
                let noted = try folder.version(of: stored.path) ?? 0
                let isNew = !catalog.engine.isOfOneMachine && noted < stored.version
                try folder.write(stored.octets, at: stored.path, version: stored.version)
                if !isNew { delivery.confirmed.append(stored.path) }
            } catch {
                // Somebody has published a newer version meanwhile.
                if error.code != .outOfTurn { delivery.problems.append("\(document.path): \(error)") }
            }
        }
        return delivery
    }

    /// The document, if it is the newest still.
    private func stored(_ document: Arrived) async throws(ServerError) -> Catalog.StoredDocument? {
        try await catalog.look { session, ledger throws(ServerError) in
            guard ledger.documents[document.name] == document.version else { return nil }
            return try Catalog.document(document.path, of: document.name.app, session, ledger)
        }
    }
}
