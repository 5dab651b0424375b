import Holdfast
import Synchronization

/// Everything that the server knows, on a ``StorageEngine``. Every write is in the audit, in the same transaction.
///
/// What counts is decided by the ``Ledger``, which is kept in memory and followed from the audit. Several processes may
/// write, such as a server and a command: each takes the entries of the others if they continue what it knows, and if
/// they end where the head outside the database does. Any other audit is refused, and nothing is written or signed.
public final class Catalog: Sendable {
    /// The database.
    let engine: any StorageEngine
    /// Who this server is.
    public let server: RandomID
    /// The digest of the first statement of approvers, from the configuration.
    let genesis: Digest
    let head: HeadFile
    /// What was signed while the database could not be written.
    let journal: JournalFile
    /// What the clock says, as far as it can be believed.
    let time: ServerTime
    private let kept: Mutex<Ledger>

    /// What the audit says has happened, as far as this process has read it.
    public var ledger: Ledger { kept.withLock { $0 } }

    /// Opens what a server has.
    /// - Parameters:
    ///   - engine: the database.
    ///   - server: the id of the server, from the configuration.
    ///   - genesis: the digest of the first statement of approvers, from the configuration.
    ///   - head: the file with the head of the audit.
    ///   - time: when things are written.
    /// - Throws: ``ServerError`` `brokenChain` if the database is not the one that the head and the genesis belong to.
    public init(
        _ engine: any StorageEngine, server: RandomID, genesis: Digest, head: HeadFile, time: ServerTime
    ) async throws(ServerError) {
        self.engine = engine
        self.server = server
        self.genesis = genesis
        self.head = head
        journal = head.journal
        self.time = time
        kept = Mutex(Ledger())
        _ = try await look { session, ledger throws(ServerError) in
            try Self.approverChain(session, server: server, genesis: genesis, known: ledger.approvers)
        }
    }

    /// Makes an empty database the one of a new server, with its first approvers.
    /// - Parameters:
    ///   - engine: the database.
    ///   - server: the id of the server.
    ///   - genesis: the first statement of approvers, signed by all of them.
    ///   - head: the file with the head of the audit; made here.
    ///   - time: when things are written.
    /// - Throws: ``ServerError`` `constraint` if the database is not empty; what ``ApproverChain`` throws.
    public convenience init(
        creating engine: any StorageEngine, server: RandomID, genesis: SignedApprovers, head: HeadFile,
        time: ServerTime
    ) async throws(ServerError) {
        let digest = Digest(of: genesis.text)
        _ = try ApproverChain(genesis: genesis, digest: digest, server: server)
        let end = try await engine.write { session throws(ServerError) in
            guard try session.run("SELECT place FROM audit LIMIT 1").isEmpty else {
                throw ServerError(.constraint, of: "database", expected: "an empty one", found: "one of a server")
            }
            var step = Step(session: session, ledger: Ledger(), now: try session.now())
            try step.record(.created, by: "operator", ["server": "\(server)", "genesis": "\(digest)"])
            try Self.store(genesis, at: 0, &step)
            try head.write(.empty, next: step.ledger.chain.head)
            return step.ledger.chain.head
        }
        try head.write(end)
        try await self.init(engine, server: server, genesis: digest, head: head, time: time)
    }

    /// One transaction that writes: its session, its time, and the ledger as it will be.
    struct Step {
        let session: any StorageSession
        var ledger: Ledger
        /// The database's time, in seconds since 1970.
        let now: Int64
        /// Whether a journal has used versions that history does not know yet.
        var waitsForJournal = false

        /// Adds an entry to the audit.
        mutating func record(
            _ event: AuditEntry.Event, by actor: String, _ facts: [String: String]
        ) throws(ServerError) {
            let entry = try ledger.chain.next(event, by: actor, at: now, facts: facts)
            try ledger.follow(entry.octets)
            try session.run(
                "INSERT INTO audit (place, entry) VALUES ($1, $2)", [.integer(entry.index), .octets(entry.octets)])
        }
    }

    /// Runs a closure in a transaction that writes, with an entry in the audit for what it does.
    /// - Parameters:
    ///   - isVouched: whether a person says that the clock is right.
    ///   - isEntering: whether it enters the journal; no other writes documents while one waits.
    func transact<Value: Sendable>(
        vouchingForClock isVouched: Bool = false, enteringJournal isEntering: Bool = false,
        _ body: @escaping @Sendable (inout Step) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let held = SharedLock()
        defer { held.release() }
        return try await engine.write(
            { [self] session throws(ServerError) in
                held.take(try head.lock())
                let before = try caughtUp(session, from: ledger, heads: try head.heads())
                var step = Step(session: session, ledger: before, now: try session.now())
                if !isEntering { step.waitsForJournal = try journal.waits(entered: before.journaled) }
                // Another process may have vouched for the clock.
                time.follow(before.resumptions)
                if !isVouched { try time.require(step.now, after: before.latestTime) }
                let value = try body(&step)
                if step.ledger.chain.head != before.chain.head {
                    try announce(step.ledger.chain.head, after: before.chain.head)
                }
                return (value: value, ledger: step.ledger)
            },
            onCommit: { [self] written in
                keep(written.ledger)
                // The second line of the file says the same until this is written.
                try? head.write(written.ledger.chain.head)
                // A server that runs says if this does not work; a command has done what it was told.
                try? time.note()
                held.release()
            }
        ).value
    }

    private func announce(_ next: AuditHead, after before: AuditHead) throws(ServerError) {
        do throws(ServerError) {
            try head.write(before, next: next)
        } catch {
            // A database whose head cannot be written cannot be either.
            throw ServerError(
                .readOnlyDatabase, of: error.subject, expected: error.expected, found: error.found, remedy: error.remedy
            )
        }
    }

    /// Runs a closure in a transaction that reads, while nobody writes to the database or the journal.
    /// - Throws: ``ServerError`` `folderInUse` if somebody does right now.
    func lookAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession, Ledger) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await engine.read { [self] session throws(ServerError) in
            let lock = try head.lockAtOnce()
            defer { withExtendedLifetime(lock) {} }
            // The state that a deferred transaction sees is that of its first statement: nothing is older than the lock.
            let ledger = try caughtUp(session, from: ledger, heads: try head.heads())
            keep(ledger)
            return try body(session, ledger)
        }
    }

    /// Runs a closure in a transaction that reads, once the ledger is where the audit ends.
    func look<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession, Ledger) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        // Another process may write between reading the database and reading the file: only then is once not enough.
        var attempt = 0
        while true {
            attempt += 1
            do throws(ServerError) {
                return try await engine.read { [self] session throws(ServerError) in
                    let ledger = try caughtUp(session, from: ledger, heads: nil)
                    keep(ledger)
                    return try body(session, ledger)
                }
            } catch {
                guard error.code == .brokenChain, attempt < 4 else { throw error }
            }
        }
    }

    /// The database's time, in seconds since 1970.
    func now() async throws(ServerError) -> Int64 {
        try await look { session, _ throws(ServerError) in try session.now() }
    }

    /// Entries of the audit as they are chained.
    /// - Parameters:
    ///   - place: the entry before the first; -1 for all.
    ///   - limit: how many at most.
    func audit(after place: Int64, limit: Int64) async throws(ServerError) -> [[UInt8]] {
        try await look { session, _ throws(ServerError) in
            try session.run(
                "SELECT entry FROM audit WHERE place > $1 ORDER BY place LIMIT $2", [.integer(place), .integer(limit)]
            ).map { row throws(ServerError) in try row.octets(0) }
        }
    }

    private func keep(_ ledger: Ledger) {
        time.follow(ledger.resumptions)
        kept.withLock { kept in
            if ledger.chain.head.count > kept.chain.head.count { kept = ledger }
        }
    }

    /// The ledger at the end of the audit.
    /// - Parameter known: the heads that the database may have; nil to read them after the database.
    private func caughtUp(
        _ session: any StorageSession, from ledger: Ledger, heads known: [AuditHead]?
    ) throws(ServerError) -> Ledger {
        var next = ledger
        let count = ledger.chain.head.count
        var rows = try Self.entries(from: count - 1, session)
        // The last entry that is known is read again: an audit that was rewritten has another one there, or none.
        if count > 0 {
            guard let last = rows.first, try last.integer(0) == count - 1,
                Digest(of: try last.octets(1)) == ledger.chain.head.digest
            else { throw other("an audit without it") }
        }
        for row in rows.dropFirst(count > 0 ? 1 : 0) { try next.follow(try row.octets(1)) }
        // Part by part, so that the memory that this takes does not grow with the audit.
        while rows.count == Self.part {
            rows = try Self.entries(from: next.chain.head.count, session)
            for row in rows { try next.follow(try row.octets(1)) }
        }
        // What this process has seen already needs no file, which may be newer than this transaction by now.
        if known == nil, count > 0, next.chain.head == ledger.chain.head { return next }
        let heads: [AuditHead]
        if let known { heads = known } else { heads = try head.heads() }
        guard heads.contains(next.chain.head) else { throw other("\(next.chain.head)", heads) }
        return next
    }

    /// How many entries are read at once.
    static let part = 1_000

    private static func entries(
        from place: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [StorageRow] {
        try session.run(
            "SELECT place, entry FROM audit WHERE place >= $1 ORDER BY place LIMIT $2",
            [.integer(place), .integer(Int64(part))])
    }

    private func other(_ found: String, _ heads: [AuditHead]? = nil) -> ServerError {
        let expected = (heads ?? [ledger.chain.head]).map(\.description).joined(separator: ", or ")
        return ServerError(
            .brokenChain, of: "audit", expected: "the head \(expected)", found: found,
            remedy: "Somebody else wrote to the database, or it is an older copy: stop, and find out who.")
    }
}

/// A lock that is released on the thread that commits, or where the transaction failed.
private final class SharedLock: Sendable {
    private let lock = Mutex<FolderLock?>(nil)

    func take(_ taken: FolderLock) { lock.withLock { $0 = taken } }

    func release() { lock.withLock { $0 = nil } }
}
