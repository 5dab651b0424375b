import Foundation
import Holdfast

extension Publisher {
    /// What became of the documents on their way to the folder.
    public struct Delivery: Sendable, Hashable {
        /// The paths that a client has read back.
        public var confirmed: [String] = []
        /// What clients do not find as it was written, in words. It counts as delivered, because those who approved it have
        /// forced the gate `readback`.
        public var forced: [String] = []
        /// Why others are not there yet, in words.
        public var problems: [String] = []

        /// Takes what became of other documents as well.
        public mutating func add(_ other: Delivery) {
            confirmed += other.confirmed
            forced += other.forced
            problems += other.problems
        }
    }

    /// Writes to the folder what waits for it, and reads it there. Where clients find the folder at a public address,
    /// ``readBack()`` goes on with it. What fails is tried again later.
    /// - Throws: ``ServerError`` of the database.
    public func deliver() async throws(ServerError) -> Delivery {
        var delivery = Delivery()
        var (ways, problems, order) = try await dueWays()
        delivery.problems = problems
        // What a file of a repository names is there before it.
        ways.sort { $0.rank < $1.rank }
        for var way in ways where order.allows(way.document.path, of: way.document.app) {
            do throws(ServerError) {
                try await take(&way)
                if way.document.isWithdrawn {
                    try folder.remove(way.document.path, version: way.document.version)
                } else {
                    try folder.write(way.document.octets, at: way.document.path, version: way.document.version)
                }
                try await step(&way) { row, now, fence throws(ServerError) in try row.uploaded(fence, at: now) }
                let document = way.document
                try await enforceReadBack(of: document, &delivery) { [way] () throws(ServerError) in try readBack(way) }
                order.remove(document.path, of: document.app)
                guard !way.isReadAtAddress else {
                    try await step(&way) { row, now, fence throws(ServerError) in try row.handedOn(fence, at: now) }
                    continue
                }
                try await step(&way) { row, now, fence throws(ServerError) in try row.confirmed(fence, at: now) }
                delivery.confirmed.append(document.path)
            } catch {
                await fail(&way, error, &delivery)
            }
        }
        return delivery
    }

    /// Says why a document is not where clients find it, and has it tried again later.
    func fail(_ way: inout Way, _ error: ServerError, _ delivery: inout Delivery) async {
        // Somebody else carries it.
        guard way.fence > 0 || error.code != .outOfTurn else { return }
        let clients = error.code == .gate ? await clients(askingFor: way.document) : ""
        delivery.problems.append("\(way.document.path): \(error)\(clients)")
        try? await step(&way) { row, now, fence throws(ServerError) in try row.failed(fence, at: now) }
    }

    /// A document on its way, and the fence of whoever carries it.
    struct Way: Sendable {
        let document: Catalog.StoredDocument
        /// Where it goes.
        var place = Catalog.folderPlace
        /// What clients verify a list with; nil for other documents.
        let key: Catalog.Key?
        /// Whether clients find the folder at a public address, where it is read once it is written.
        var isReadAtAddress = false
        /// For how many seconds it is held.
        var hold: Int64 = 60
        var fence: Int64 = 0

        var rank: Int { RepositoryPath.rank(of: document.path) ?? 0 }
    }

    /// The files of repositories that are on their way: none is written before those of a lower rank.
    private struct Order: Sendable {
        private var waiting: [AppName: [String: Int]] = [:]

        mutating func add(_ path: String, of app: AppName) {
            if let rank = RepositoryPath.rank(of: path) { waiting[app, default: [:]][path] = rank }
        }

        mutating func remove(_ path: String, of app: AppName) { waiting[app]?[path] = nil }

        func allows(_ path: String, of app: AppName) -> Bool {
            guard let rank = RepositoryPath.rank(of: path), let all = waiting[app]?.values else { return true }
            return all.allSatisfy { $0 >= rank }
        }
    }

    /// - Returns: what is due, what is wrong with other rows, in words, and what waits for what.
    private func dueWays() async throws(ServerError) -> (ways: [Way], problems: [String], order: Order) {
        try await catalog.look { [self] session, ledger throws(ServerError) in
            var (ways, problems, order): ([Way], [String], Order) = ([], [], Order())
            var addresses: [AppName: Bool] = [:]
            for row in try session.run(
                """
                SELECT app, format, version, state, fence, taken_until, failures, due_at FROM outbox \
                WHERE place = $1 AND state IN ('waiting', 'taken', 'uploaded') ORDER BY due_at LIMIT 1000
                """, [.text(Catalog.folderPlace)])
            {
                do throws(ServerError) {
                    let app = try row.text(0) { AppName(octets: $0) }
                    let hasAddress: Bool
                    if let known = addresses[app] {
                        hasAddress = known
                    } else {
                        hasAddress = try Catalog.folderAddress(of: app, session, ledger) != nil
                        addresses[app] = hasAddress
                    }
                    // It is in the folder, and only has to be read.
                    if hasAddress, try Self.outboxRow(row, from: 3).state == .uploaded { continue }
                    order.add(try row.text(1), of: app)
                    guard var way = try way(row, session, ledger) else { continue }
                    way.isReadAtAddress = hasAddress
                    ways.append(way)
                } catch {
                    problems.append("a document on its way to the folder: \(error)")
                }
            }
            return (ways, problems, order)
        }
    }

    private func way(
        _ row: StorageRow, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> Way? {
        let app = try row.text(0) { AppName(octets: $0) }
        guard try Self.outboxRow(row, from: 3).isDue(at: session.now()),
            let document = try Catalog.newest(try row.text(1), of: app, session, ledger),
            document.version == (try row.integer(2))
        else { return nil }
        let isList = !document.isWithdrawn && document.path.utf8.starts(with: "lists/".utf8)
        return Way(
            document: document,
            key: isList ? try Catalog.key(.fingerprints, of: app, catalog.server, session, ledger) : nil)
    }

    static func outboxRow(_ row: StorageRow, from column: Int) throws(ServerError) -> OutboxRow {
        OutboxRow(
            state: try row.text(column) { OutboxRow.State(octets: $0) }, fence: try row.integer(column + 1),
            takenUntil: try row.integer(column + 2), failures: try row.integer(column + 3),
            dueAt: try row.integer(column + 4))
    }

    func take(_ way: inout Way) async throws(ServerError) {
        let hold = way.hold
        way.fence = try await update(way) { row, now throws(ServerError) in try row.take(at: now, for: hold) }
    }

    /// Does something with the row, if it is still this uploader's turn, and takes it again.
    func step(
        _ way: inout Way,
        _ body: @escaping @Sendable (inout OutboxRow, Int64, Int64) throws(ServerError) -> Void
    ) async throws(ServerError) {
        let (fence, hold) = (way.fence, way.hold)
        way.fence = try await update(way) { row, now throws(ServerError) in
            let taken = try row.retake(fence, at: now, for: hold)
            try body(&row, now, taken)
            return taken
        }
    }

    /// The outbox is on its way to a place, and no evidence: it is not in the audit.
    private func update(
        _ way: Way, _ body: @escaping @Sendable (inout OutboxRow, Int64) throws(ServerError) -> Int64
    ) async throws(ServerError) -> Int64 {
        let key: [StorageValue] = [
            .text("\(way.document.app)"), .text(way.document.path), .integer(way.document.version),
            .text(way.place),
        ]
        return try await catalog.engine.write { session throws(ServerError) in
            let found = try session.run(
                """
                SELECT state, fence, taken_until, failures, due_at FROM outbox \
                WHERE app = $1 AND format = $2 AND version = $3 AND place = $4 {lock}
                """, key
            ).first
            guard let found else {
                throw ServerError(.outOfTurn, of: way.document.path, expected: "a row of the outbox", found: "none")
            }
            var row = try Self.outboxRow(found, from: 0)
            let fence = try body(&row, try session.now())
            try session.run(
                """
                UPDATE outbox SET state = $5, fence = $6, taken_until = $7, failures = $8, due_at = $9 \
                WHERE app = $1 AND format = $2 AND version = $3 AND place = $4
                """,
                key + [
                    .text(row.state.rawValue), .integer(row.fence), .integer(row.takenUntil), .integer(row.failures),
                    .integer(row.dueAt),
                ])
            if row.state == .confirmed { try Catalog.noteConfirmation(key, session) }
            return fence
        }
    }

    /// Whom the gate `readback` concerns, as a sentence.
    private func clients(askingFor document: Catalog.StoredDocument) async -> String {
        do throws(ServerError) {
            return " \(ConcernedClients(try await catalog.scene(of: document.app)).asking(for: document.path))."
        } catch {
            return ""
        }
    }

    /// The gate `readback`: what is there are the very octets, and a client takes them.
    private func readBack(_ way: Way) throws(ServerError) {
        let path = way.document.path
        guard !way.document.isWithdrawn else {
            guard try folder.read(path) == nil else {
                throw ServerError(.gate, of: path, expected: "nothing", found: "a document that is no longer published")
            }
            return
        }
        guard let octets = try folder.read(path), octets == way.document.octets else {
            throw ServerError(.gate, of: path, expected: "the document that was written", found: "another, or none")
        }
        // A trust server's document was read as a client does when it was signed.
        guard let key = way.key else { return }
        _ = try ServerError.translating(.gate, of: path) { () throws(DocumentError) in
            try FingerprintList(
                verifying: Data(octets),
                with: DocumentPublicKey(base64: Base64.encode(key.publicKey.suffix(65))))
        }
    }
}
