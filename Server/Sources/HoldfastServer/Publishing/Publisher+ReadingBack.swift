import Foundation

extension Publisher {
    /// Reads back what was written to the folder, where somebody has said at which address clients find it. What is not
    /// found there is written and read again later, unless its approvers have forced the gate `readback`.
    ///
    /// It waits for a web server, so it is none of what a round waits for.
    public func readBack() async -> Delivery {
        var delivery = Delivery()
        for one in await Self.sideBySide(catalog.apps, { await readBack($0) }) { delivery.add(one) }
        return delivery
    }

    private func readBack(_ app: AppName) async -> Delivery {
        var delivery = Delivery()
        var turn: PlaceTurn?
        do throws(ServerError) {
            guard let address = try await catalog.folderAddress(of: app), try await !written(of: app).isEmpty,
                let taken = try await catalog.turn(at: Catalog.folderPlace, of: app, for: Self.maximumReading)
            else { return delivery }
            turn = taken
            let reader = try await publicReader(of: app, at: address.url)
            let documents = try await written(of: app)
            var repository: Result<Void, ServerError>?
            var (found, isFailed): ([Catalog.StoredDocument], Bool) = ([], false)
            for document in documents {
                do throws(ServerError) {
                    try await enforceReadBack(of: document, &delivery) { () async throws(ServerError) in
                        try await reader.read(document)
                        guard reader.isOfRepository(document) else { return }
                        // Its files are followed together.
                        let followed: Result<Void, ServerError>
                        if let repository { followed = repository } else { followed = await reader.repositoryResult() }
                        repository = followed
                        try followed.get()
                    }
                    found.append(document)
                } catch {
                    guard try await !isSpreading(document, error) else { continue }
                    let clients = error.code == .gate ? await clients(askingFor: document.path, of: app) : ""
                    delivery.problems.append("\(document.path): \(error)\(clients)")
                    isFailed = true
                    // It is written once more, if it is not there.
                    filled.forget(Ledger.Name(app: app, name: document.path))
                    // The others would wait for the same silence.
                    guard error.code != .file else { break }
                }
            }
            try await catalog.end(taken, delivered: found, isFailed: isFailed)
            delivery.confirmed += found.map { "\(address.url.absoluteString): \($0.path)" }
        } catch {
            delivery.problems.append("\(app): \(error)")
            if let turn { try? await catalog.end(turn, delivered: [], isFailed: true) }
        }
        return delivery
    }

    /// In seconds: after so long all machines have in their folders what one of them has signed.
    private static let spread: Int64 = 15

    /// Whether an address may lead to a machine whose folder has not got a document yet; it is read again at once then.
    private func isSpreading(
        _ document: Catalog.StoredDocument, _ error: ServerError
    ) async throws(ServerError) -> Bool {
        guard !catalog.engine.isOfOneMachine, error.code == .gate else { return false }
        return try await catalog.now() - document.signedAt < Self.spread
    }

    /// The gate `readback`: what does not pass it counts as delivered all the same if its approvers have forced it.
    func enforceReadBack(
        of document: Catalog.StoredDocument, _ delivery: inout Delivery,
        _ read: () async throws(ServerError) -> Void
    ) async throws(ServerError) {
        do throws(ServerError) {
            try await read()
        } catch {
            guard try await isForced(.readback, for: document) else { throw error }
            delivery.forced.append("\(document.path): \(error)")
        }
    }

    /// Whether the approvers of what a document says have forced a gate.
    private func isForced(_ gate: Gate, for document: Catalog.StoredDocument) async throws(ServerError) -> Bool {
        let app = document.app
        let ledger = catalog.ledger
        if let canary = ledger.canaries[app] {
            let change = try await catalog.change(canary.change)
            let paths = change.content.paths(for: .canary)
            if paths.contains(where: { $0.utf8.elementsEqual(document.path.utf8) }) {
                return change.forced.contains(gate)
            }
        }
        guard let publication = ledger.publication(of: app) else { return false }
        return try await catalog.change(publication.change).forced.contains(gate)
    }

    /// What was written to this machine's folder, and has not been found at the address.
    private func written(of app: AppName) async throws(ServerError) -> [Catalog.StoredDocument] {
        try await catalog.look { [folder] session, ledger throws(ServerError) in
            var documents: [Catalog.StoredDocument] = []
            for (path, version) in try Catalog.outstanding(of: app, in: Catalog.folderPlace, session, ledger) {
                guard try folder.has(path, version),
                    let document = try Catalog.newest(path, of: app, session, ledger)
                else { continue }
                documents.append(document)
            }
            return documents
        }
    }

    /// For how many seconds an address is held while it is read: longer than that takes.
    private static let maximumReading: Int64 = 300
}

extension PublicReader {
    fileprivate func repositoryResult() async -> Result<Void, ServerError> {
        do throws(ServerError) { return .success(try await readRepository()) } catch { return .failure(error) }
    }
}
