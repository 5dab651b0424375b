import Holdfast
import Synchronization

/// Everything that the server knows, on a ``StorageEngine``. Every write is in the audit, in the same transaction.
///
/// What counts is decided by the ``Ledger``, which is kept in memory and followed from the audit. Several processes may
/// write, such as a server and a command: each takes the entries of the others if they continue what it knows, and if
/// they end where the head outside the database does, or on a database of many machines where one of them has signed that
/// they do (``SignedHead``). Any other audit is refused, and nothing is written or signed.
public final class Catalog: Sendable {
    /// The database.
    let engine: any StorageEngine
    /// Who this server is.
    public let server: RandomID
    /// The digest of the first statement of approvers, from the configuration.
    let genesis: Digest
    let head: HeadFile
    /// What the clock says, as far as it can be believed.
    let time: ServerTime
    private let kept: Mutex<Ledger>
    private let unwritable = Mutex<ServerError?>(nil)
    /// Whose signatures of heads count; the first one signs.
    let seals: Mutex<[AuditSeal]>
    /// What this process knows about the file of the head and the signature in the database.
    let headState = Mutex(HeadState())
    /// Whether this machine had no head of its own, and begins with the one that another machine has signed.
    public let isJoining: Bool

    /// Why the database could not be written the last time; nil if it could.
    public var writeProblem: ServerError? { unwritable.withLock { $0 } }

    func cannotWrite(because problem: ServerError) { unwritable.withLock { $0 = problem } }

    /// What the audit says has happened, as far as this process has read it.
    public var ledger: Ledger { kept.withLock { $0 } }

    /// Opens what a server has.
    /// - Parameters:
    ///   - engine: the database.
    ///   - server: the id of the server, from the configuration.
    ///   - genesis: the digest of the first statement of approvers, from the configuration.
    ///   - head: the file with the head of the audit.
    ///   - time: when things are written.
    ///   - secrets: what heads of the audit may be signed with, on a database of many machines; the first one signs.
    /// - Throws: ``ServerError`` `brokenChain` if the database is not the one that the head and the genesis belong to.
    public init(
        _ engine: any StorageEngine, server: RandomID, genesis: Digest, head: HeadFile, time: ServerTime,
        secrets: [SigningSecret] = []
    ) async throws(ServerError) {
        self.engine = engine
        self.server = server
        self.genesis = genesis
        self.head = head
        self.time = time
        kept = Mutex(Ledger())
        seals = Mutex(secrets.map { AuditSeal($0, server: server) })
        isJoining = if engine.isOfOneMachine { false } else { try head.headsIfThere() == nil }
        _ = try await look { [self] session, ledger throws(ServerError) in
            try compareClocks(session)
            return try Self.approverChain(session, server: server, genesis: genesis, known: ledger.approvers)
        }
    }

    /// Makes an empty database the one of a new server, with its first approvers.
    /// - Parameters:
    ///   - engine: the database.
    ///   - server: the id of the server.
    ///   - genesis: the first statement of approvers, signed by all of them.
    ///   - head: the file with the head of the audit; made here.
    ///   - time: when things are written.
    ///   - secrets: what heads of the audit are signed with, on a database of many machines.
    /// - Throws: ``ServerError`` `constraint` if the database is not empty; what ``ApproverChain`` throws.
    public convenience init(
        creating engine: any StorageEngine, server: RandomID, genesis: SignedApprovers, head: HeadFile,
        time: ServerTime, secrets: [SigningSecret] = []
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
            if !engine.isOfOneMachine, let secret = secrets.first {
                try SignedHead(step.ledger.chain.head, by: AuditSeal(secret, server: server)).store(session)
            }
            try head.write(.empty, next: step.ledger.chain.head)
            return step.ledger.chain.head
        }
        try head.write(end)
        try await self.init(engine, server: server, genesis: digest, head: head, time: time, secrets: secrets)
    }

    /// One transaction that writes: its session, its time, and the ledger as it will be.
    struct Step {
        let session: any StorageSession
        var ledger: Ledger
        /// The database's time, in seconds since 1970.
        let now: Int64

        /// Adds an entry to the audit.
        mutating func record(
            _ event: AuditEntry.Event, by actor: String, _ facts: [String: String]
        ) throws(ServerError) {
            let entry = try ledger.chain.next(event, by: actor, at: now, facts: facts)
            try ledger.follow(entry.bytes)
            try session.run(
                "INSERT INTO audit (place, entry) VALUES ($1, $2)", [.integer(entry.index), .bytes(entry.bytes)])
        }
    }

    /// Runs a closure in a transaction that writes, with an entry in the audit for what it does.
    /// - Parameters:
    ///   - isVouched: whether a person says that the clock is right.
    ///   - secret: what signs the head from this transaction on; nil for what does already.
    func transact<Value: Sendable>(
        vouchingForClock isVouched: Bool = false, sealingWith secret: SigningSecret? = nil,
        _ body: @escaping @Sendable (inout Step) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        do throws(ServerError) {
            let value = try await commit(isVouched, secret, body)
            unwritable.withLock { $0 = nil }
            return value
        } catch {
            if error.code.saysUnwritable { cannotWrite(because: error) }
            throw error
        }
    }

    private func commit<Value: Sendable>(
        _ isVouched: Bool, _ secret: SigningSecret?,
        _ body: @escaping @Sendable (inout Step) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let held = SharedLock()
        defer { held.release() }
        return try await engine.write(
            { [self] session throws(ServerError) in
                // It is tried again when the disk was full.
                held.release()
                held.take(try head.lock())
                let before = try caughtUp(session, from: ledger, heads: try ownHeads())
                var step = Step(session: session, ledger: before, now: try session.now())
                // Another process may have vouched for the clock.
                time.follow(before.resumptions)
                if !isVouched { try requireTime(step.now, after: before.latestTime) }
                let value = try body(&step)
                if step.ledger.chain.head != before.chain.head {
                    try sign(step.ledger.chain.head, session, with: secret)
                    try announce(step.ledger.chain.head, after: before.chain.head)
                }
                return (value: value, ledger: step.ledger)
            },
            onCommit: { [self] written in
                keep(written.ledger)
                if let secret { seal(with: secret) }
                // The second line of the file says the same until this is written.
                if (try? head.write(written.ledger.chain.head)) != nil { hasNoted(written.ledger.chain.head) }
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

    /// Runs a closure in a transaction that reads, once the ledger is where the audit ends.
    func look<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession, Ledger) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        // Another process may write between reading the database and reading the file: only then is once not enough.
        var attempt = 0
        while true {
            attempt += 1
            do throws(ServerError) {
                let value = try await engine.read { [self] session throws(ServerError) in
                    let ledger = try caughtUp(session, from: ledger, heads: nil)
                    keep(ledger)
                    note(ledger.chain.head)
                    return try body(session, ledger)
                }
                hasRead()
                return value
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
            ).map { row throws(ServerError) in try row.bytes(0) }
        }
    }

    private func keep(_ ledger: Ledger) {
        time.follow(ledger.resumptions)
        kept.withLock { kept in
            if ledger.chain.head.count > kept.chain.head.count { kept = ledger }
        }
    }

    /// The ledger at the end of the audit.
    /// - Parameter known: the heads that this machine knows; nil to read them after the database.
    func caughtUp(
        _ session: any StorageSession, from ledger: Ledger, heads known: [AuditHead]?
    ) throws(ServerError) -> Ledger {
        var next = ledger
        let count = ledger.chain.head.count
        var rows = try Self.entries(from: count - 1, session)
        // The last entry that is known is read again: an audit that was rewritten has another one there, or none.
        if count > 0 {
            guard let last = rows.first, try last.integer(0) == count - 1,
                Digest(of: try last.bytes(1)) == ledger.chain.head.digest
            else { throw isAnother("an audit without it", [ledger.chain.head]) }
            rows.removeFirst()
        }
        // What this process has seen already needs no file, which may be newer than this transaction by now.
        if known == nil, count > 0, rows.isEmpty { return next }
        let heads: [AuditHead]
        if let known { heads = known } else { heads = try ownHeads() }
        // Part by part, so that the memory that this takes does not grow with the audit.
        while !rows.isEmpty {
            for row in rows {
                try next.follow(try row.bytes(1))
                try requireOwn(next.chain.head, heads)
            }
            rows = rows.count < Self.part - 1 ? [] : try Self.entries(from: next.chain.head.count, session)
        }
        try requireEnd(next.chain.head, known: ledger.chain.head, heads, session)
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
}

/// A lock that is released on the thread that commits, or where the transaction failed.
private final class SharedLock: Sendable {
    private let lock = Mutex<FolderLock?>(nil)

    func take(_ taken: FolderLock) { lock.withLock { $0 = taken } }

    func release() { lock.withLock { $0 = nil } }
}
