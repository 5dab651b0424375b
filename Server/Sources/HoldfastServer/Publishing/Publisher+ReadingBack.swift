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
        do throws(ServerError) {
            try await readBack(app, &delivery)
        } catch {
            delivery.problems.append("\(app): \(error)")
        }
        return delivery
    }

    private func readBack(_ app: AppName, _ delivery: inout Delivery) async throws(ServerError) {
        guard let address = try await catalog.folderAddress(of: app) else { return }
        var ways = try await writtenWays(of: app)
        guard !ways.isEmpty else { return }
        let reader = try await publicReader(of: app, at: address.url)
        var repository: Result<Void, ServerError>?
        for index in ways.indices {
            let document = ways[index].document
            do throws(ServerError) {
                try await take(&ways[index])
                try await enforceReadBack(of: document, &delivery) { () async throws(ServerError) in
                    try await reader.read(document)
                    guard reader.isOfRepository(document) else { return }
                    // Its files are followed together.
                    let followed: Result<Void, ServerError>
                    if let repository { followed = repository } else { followed = await reader.repositoryResult() }
                    repository = followed
                    try followed.get()
                }
                try await step(&ways[index]) { row, now, fence throws(ServerError) in
                    try row.confirmed(fence, at: now)
                }
                delivery.confirmed.append("\(address.url.absoluteString): \(document.path)")
            } catch {
                guard try await !isSpreading(&ways[index], error) else { continue }
                await fail(&ways[index], error, &delivery)
                // The others would wait for the same silence.
                guard error.code != .file else { return }
            }
        }
    }

    /// In seconds: after so long all machines have in their folders what one of them has signed.
    private static let spread: Int64 = 15

    /// Whether an address may lead to a machine whose folder has not got a document yet; it is read again at once then.
    private func isSpreading(_ way: inout Way, _ error: ServerError) async throws(ServerError) -> Bool {
        guard !catalog.engine.isOfOneMachine, error.code == .gate,
            try await catalog.now() - way.document.signedAt < Self.spread
        else { return false }
        try await step(&way) { row, now, fence throws(ServerError) in try row.handedOn(fence, at: now) }
        return true
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

    /// What was written, and is read back at an address.
    private func writtenWays(of app: AppName) async throws(ServerError) -> [Way] {
        try await catalog.look { session, ledger throws(ServerError) in
            var ways: [Way] = []
            for row in try session.run(
                """
                SELECT format, version, state, fence, taken_until, failures, due_at FROM outbox \
                WHERE app = $1 AND place = $2 AND state = 'uploaded' ORDER BY format LIMIT 1000
                """, [.text("\(app)"), .text(Catalog.folderPlace)])
            {
                guard try Self.outboxRow(row, from: 2).isDue(at: session.now()),
                    let document = try Catalog.newest(try row.text(0), of: app, session, ledger),
                    document.version == (try row.integer(1))
                else { continue }
                ways.append(Way(document: document, key: nil, hold: Self.longestReading))
            }
            return ways
        }
    }

    /// For how many seconds a document is held while it is read back: longer than that takes.
    private static let longestReading: Int64 = 300
}

extension PublicReader {
    fileprivate func repositoryResult() async -> Result<Void, ServerError> {
        do throws(ServerError) { return .success(try await readRepository()) } catch { return .failure(error) }
    }
}
