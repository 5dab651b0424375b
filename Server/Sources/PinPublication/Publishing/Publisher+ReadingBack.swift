import Foundation
import PinChanges
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// Reads the folder's documents back from its public address, if it is configured. A document that is not found
    /// there is written and read again later, unless its approvers have forced the gate `readback`.
    ///
    /// This waits for a web server, so no round waits for this.
    package func readBack() async -> Delivery {
        var delivery = Delivery()
        for one in await Self.sideBySide(catalog.apps, { await readBack($0) }) { delivery.add(one) }
        return delivery
    }

    private func readBack(_ app: AppName) async -> Delivery {
        var delivery = Delivery()
        var turn: PlaceTurn?
        do throws(ServerError) {
            guard let address = try await catalog.folderAddress(of: app), try await !written(of: app).isEmpty,
                let taken = try await catalog.turn(at: Place.folder, of: app, for: Self.maximumReading)
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
                        // The files of a repository are checked together.
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
                    // Have it written again, if it is missing.
                    filled.forget(Ledger.Name(app: app, name: document.path))
                    // The other reads would wait for the same silent address.
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

    /// The time after which all machines have a signed document in their folders, in seconds.
    private static let spread: Int64 = 15

    /// Whether an address may lead to a machine whose folder does not have a document yet. It is then read again
    /// without a pause.
    private func isSpreading(
        _ document: Catalog.StoredDocument, _ error: ServerError
    ) async throws(ServerError) -> Bool {
        guard !catalog.engine.isOfOneMachine, error.code == .gate else { return false }
        return try await catalog.now() - document.signedAt < Self.spread
    }

    /// The gate `readback`: a document that fails it still counts as delivered if its approvers have forced the gate.
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

    /// Whether the approvers of a document's content have forced a gate.
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

    /// The documents in this machine's folder that have not been found at the address.
    private func written(of app: AppName) async throws(ServerError) -> [Catalog.StoredDocument] {
        try await catalog.look { [folder] session, ledger throws(ServerError) in
            var documents: [Catalog.StoredDocument] = []
            for (path, version) in try Catalog.outstanding(of: app, in: Place.folder, session, ledger) {
                guard try folder.has(path, version),
                    let document = try Catalog.newest(path, of: app, session, ledger)
                else { continue }
                documents.append(document)
            }
            return documents
        }
    }

    /// The duration of the lease on an address, in seconds: longer than reading takes.
    private static let maximumReading: Int64 = 300
}

extension PublicReader {
    fileprivate func repositoryResult() async -> Result<Void, ServerError> {
        do throws(ServerError) { return .success(try await readRepository()) } catch { return .failure(error) }
    }
}
