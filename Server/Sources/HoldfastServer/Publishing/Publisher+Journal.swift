import Holdfast

extension Publisher {
    /// A database that cannot be written, and what goes on meanwhile.
    public struct Outage: Sendable, Hashable {
        /// How many rounds are in the journal.
        public let rounds: Int
        /// When the database was written last, in seconds since 1970.
        public let since: Int64
        /// The last second at which anything is signed without it.
        public let until: Int64
    }

    /// Something that is signed again, and the paths that get it.
    struct SignedAgain: Sendable {
        let document: MadeDocument
        let paths: [String]
    }

    /// What the journal has that history has not.
    struct Journaled: Sendable {
        /// The newest of each path.
        var documents: [String: Catalog.StoredDocument] = [:]
        var rounds = 0
        /// How far it is ahead of history; nil if it is not.
        var mark: JournalMark?
    }

    /// For how many seconds after the last entry of the audit things are signed that are not in it.
    static let longestOutage: Int64 = 7 * 86_400

    /// Reserves space for rounds without a database, as far as there is some.
    func reserveJournal() {
        guard catalog.engine.isOfOneMachine,
            (try? catalog.journal.waits(entered: catalog.ledger.journaled)) == false
        else { return }
        catalog.journal.reserve()
    }

    /// Since when rounds go on without a database, and until when; nil if history has everything.
    /// - Parameter isUnwritable: whether the database is known to be unwritable, even if nothing was signed since.
    /// - Throws: ``ServerError`` of the database, and of a journal that this server has not written.
    public func outage(isUnwritable: Bool = false) async throws(ServerError) -> Outage? {
        try await catalog.look { [self] session, ledger throws(ServerError) in
            let rounds = try journaled(session, ledger).rounds
            guard rounds > 0 || isUnwritable else { return nil }
            let since = ledger.latestTime
            let goesOn = catalog.engine.isOfOneMachine && catalog.journal.isWritable
            return Outage(rounds: rounds, since: since, until: goesOn ? since + Self.longestOutage : since)
        }
    }

    // MARK: Reading

    /// - Throws: ``ServerError``; `brokenChain` for a journal of another server or another state of this one, or that somebody
    ///   changed: nothing is signed before a person has found out.
    private func journal(_ session: any StorageSession, _ ledger: Ledger) throws(ServerError) -> Journal? {
        guard try catalog.journal.waits(entered: ledger.journaled) else { return nil }
        guard let secret else {
            throw ServerError(
                .secretFile, of: "journal", expected: "the secret", found: "none",
                remedy: "Give the secret: what was signed without the database is to be entered before anything else.")
        }
        let journal = try catalog.journal.read(with: secret, entered: ledger.journaled)
        if let journal { try catalog.requireOwn(journal, session) }
        return journal
    }

    /// What the journal has that history has not.
    /// - Throws: ``ServerError``, as ``JournalFile/read(with:entered:)``.
    func journaled(_ session: any StorageSession, _ ledger: Ledger) throws(ServerError) -> Journaled {
        guard let journal = try journal(session, ledger) else { return Journaled() }
        let pending = journal.pending(after: ledger.journaled)
        var later = Journaled(rounds: pending.count, mark: journal.pendingMark(after: ledger.journaled))
        for record in pending {
            for document in record.documents {
                guard let octets = document.octets else { continue }
                for place in document.places {
                    later.documents[place.path] = Catalog.StoredDocument(
                        app: record.app, path: place.path, version: place.version, octets: octets,
                        signedAt: record.time, end: document.end, isWithdrawn: false)
                }
            }
        }
        return later
    }

    // MARK: Writing

    /// Writes what was signed again into history and outbox, or into the journal while the database cannot be written.
    /// - Parameters:
    ///   - app: the app.
    ///   - time: when it was signed, in seconds since 1970.
    ///   - outage: why the database cannot be written; it is not tried again then.
    ///   - choose: what goes where, by what the audit has and how far a journal is ahead of it.
    /// - Returns: the paths.
    func write(
        of app: AppName, at time: Int64, _ outage: inout ServerError?,
        _ choose: @escaping @Sendable (Ledger, JournalMark?) throws(ServerError) -> [SignedAgain]
    ) async throws(ServerError) -> [String] {
        if outage == nil {
            do throws(ServerError) {
                return try await catalog.transact { [folder] step throws(ServerError) in
                    let generation = max(1, step.ledger.generation(of: app))
                    var signed: [String] = []
                    for again in try choose(step.ledger, nil) {
                        for path in again.paths {
                            let version = step.ledger.nextVersion(of: .init(app: app, name: path))
                            try folder.requireNew(version, of: path)
                            try Catalog.store(again.document, at: path, of: app, generation: generation, &step)
                            signed.append(path)
                        }
                    }
                    return signed
                }
            } catch {
                guard catalog.engine.isOfOneMachine, error.code.saysUnwritable else { throw error }
                outage = error
            }
        }
        guard let problem = outage else { return [] }
        return try await journal(app, at: time, because: problem, choose)
    }

    /// Writes what was signed into the journal, then to the folder.
    private func journal(
        _ app: AppName, at time: Int64, because problem: ServerError,
        _ choose: @escaping @Sendable (Ledger, JournalMark?) throws(ServerError) -> [SignedAgain]
    ) async throws(ServerError) -> [String] {
        guard let secret else { throw Self.noSecret }
        let record: JournalRecord
        do throws(ServerError) {
            record = try await catalog.lookAlone { [self] session, ledger throws(ServerError) in
                let known = try journal(session, ledger)
                let mark = known?.pendingMark(after: ledger.journaled)
                return try append(try choose(ledger, mark), to: known, of: app, at: time, secret, ledger)
            }
        } catch {
            guard error.code == .file else { throw error }
            // That there is no journal either is worth less than what has to be mended.
            throw ServerError(
                problem.code, of: problem.subject, expected: problem.expected,
                found: "\(problem.found), and no journal: \(error.found)", remedy: problem.remedy)
        }
        var paths: [String] = []
        for document in record.documents {
            for place in document.places {
                paths.append(place.path)
                // Clients are answered from memory; the folder is written once more when this is entered.
                try? folder.write(document.octets ?? [], at: place.path, version: place.version)
            }
        }
        return paths
    }

    private func append(
        _ signed: [SignedAgain], to known: Journal?, of app: AppName, at time: Int64, _ secret: SigningSecret,
        _ ledger: Ledger
    ) throws(ServerError) -> JournalRecord {
        let end = ledger.latestTime + Self.longestOutage
        guard time <= end else {
            throw ServerError(
                .outOfTurn, of: "database", expected: "one that could be written until \(ClockGuard.text(end))",
                found: "a later time: nothing is signed without it for longer than seven days",
                remedy: "Make the database writable; what was signed is served on until it ends.")
        }
        if let last = known?.records.last?.time, time < last {
            throw ServerError(
                .clock, of: "journal",
                expected: "a time from \(ClockGuard.text(last)) on, when something was signed last",
                found: ClockGuard.text(time))
        }
        let newest = known?.newest ?? [:]
        var documents: [JournalRecord.Document] = []
        for again in signed where !again.paths.isEmpty {
            var places: [JournalRecord.Place] = []
            for path in again.paths {
                let version = max(ledger.nextVersion(of: .init(app: app, name: path)), (newest[path] ?? 0) + 1)
                try folder.requireNew(version, of: path)
                places.append(JournalRecord.Place(path: path, version: version))
            }
            documents.append(
                JournalRecord.Document(places: places, octets: again.document.octets, end: again.document.end))
        }
        let record = JournalRecord(
            app: app, generation: max(1, ledger.generation(of: app)), time: time, documents: documents)
        guard !documents.isEmpty else { return record }
        try catalog.journal.append(
            record, to: known, from: Journal.Origin(server: catalog.server, head: ledger.chain.head), with: secret)
        return record
    }

    // MARK: Entering

    /// Enters what was signed while the database could not be written into history, and into the outbox.
    /// - Returns: what was entered, in words.
    /// - Throws: ``ServerError``, also of a journal that this server has not written.
    func enterJournal() async throws(ServerError) -> [String] {
        guard try catalog.journal.waits(entered: catalog.ledger.journaled) else { return [] }
        let rounds = try await catalog.transact(enteringJournal: true) { [self] step throws(ServerError) in
            guard let journal = try journal(step.session, step.ledger) else { return 0 }
            return try Catalog.enter(journal, &step)
        }
        // If this fails, the rounds are entered all the same.
        try? await clearJournal()
        guard rounds > 0 else { return [] }
        return ["\(rounds) rounds that were signed while the database could not be written are in it now"]
    }

    /// Forgets the journal once history has all of it.
    /// - Throws: ``ServerError``: `outOfTurn` for rounds that are not entered yet, `folderInUse` while another process
    ///   writes.
    func clearJournal() async throws(ServerError) {
        guard try catalog.journal.waits(entered: catalog.ledger.journaled) else { return }
        try await catalog.lookAlone { [self] session, ledger throws(ServerError) in
            guard let journal = try journal(session, ledger) else { return }
            guard journal.pending(after: ledger.journaled).isEmpty else {
                throw ServerError(
                    .outOfTurn, of: "journal", expected: "rounds that are all entered into the database",
                    found: "others", remedy: "Run the command again, which enters them first.")
            }
            try catalog.journal.clear()
        }
    }
}

extension Catalog {
    /// Refuses a journal that does not go on from the audit of this database.
    /// - Throws: ``ServerError`` `brokenChain`.
    func requireOwn(_ journal: Journal, _ session: any StorageSession) throws(ServerError) {
        let head = journal.origin.head
        let row = try session.run("SELECT entry FROM audit WHERE place = $1", [.integer(head.count - 1)]).first
        guard journal.origin.server == server, let row, Digest(of: try row.octets(0)) == head.digest else {
            throw ServerError(
                .brokenChain, of: "journal", expected: "one that goes on from an entry of this audit",
                found: "one that goes on from \(head)",
                remedy: "The journal is of another server, or the database is an older copy: put the newest one back.")
        }
    }

    /// Enters the rounds of a journal that are not in history yet.
    /// - Returns: how many.
    fileprivate static func enter(_ journal: Journal, _ step: inout Step) throws(ServerError) -> Int {
        let pending = journal.pending(after: step.ledger.journaled)
        guard let last = pending.last else { return 0 }
        guard step.now >= last.time else {
            throw ServerError(
                .clock, of: "journal", expected: "a time from \(ClockGuard.text(last.time)) on", found: "an earlier one"
            )
        }
        try step.record(
            .journal, by: "server", ["journal": "\(journal.origin.head)", "rounds": "\(journal.records.count)"])
        let newest = journal.newest
        for record in pending {
            for document in record.documents {
                for place in document.places { try enter(place, document, record, newest[place.path], &step) }
            }
        }
        return pending.count
    }

    private static func enter(
        _ place: JournalRecord.Place, _ document: JournalRecord.Document, _ record: JournalRecord, _ newest: Int64?,
        _ step: inout Step
    ) throws(ServerError) {
        guard place.version == step.ledger.nextVersion(of: .init(app: record.app, name: place.path)) else {
            throw ServerError(
                .brokenChain, of: place.path, expected: "version \(place.version) in the journal alone",
                found: "others in history")
        }
        // Nobody was ever given an earlier one once there was a later.
        if place.version == newest, let octets = document.octets {
            try insert(
                StoredDocument(
                    app: record.app, path: place.path, version: place.version, octets: octets, signedAt: record.time,
                    end: document.end, isWithdrawn: false),
                generation: record.generation, step)
        }
        try step.record(
            .signed, by: "server",
            [
                "app": "\(record.app)", "format": place.path, "version": "\(place.version)",
                "generation": "\(record.generation)", "digest": "\(document.digest)",
                "time": ClockGuard.text(record.time),
            ])
    }
}

extension PublicFolder {
    /// Refuses a version that was public already: a journal or a database is not the newest.
    /// - Throws: ``ServerError`` `brokenChain`.
    fileprivate func requireNew(_ version: Int64, of path: String) throws(ServerError) {
        guard let noted = try self.version(of: path), noted >= version else { return }
        throw ServerError(
            .brokenChain, of: path, expected: "no version after \(version - 1) in the folder",
            found: "version \(noted)",
            remedy:
                "The journal was cut off, or the database is an older copy: put the newest back, or restore a backup.")
    }
}
