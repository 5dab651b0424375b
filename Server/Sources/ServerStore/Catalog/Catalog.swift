import Holdfast
package import ServerApprovals
package import ServerFoundation
package import ServerModel
import Synchronization

/// The data of the server, on a ``StorageEngine``. Every write is in the audit, in the same transaction.
///
/// The ``Ledger``, kept in memory and followed from the audit, decides what is in force. Several processes may write,
/// such as a server and a command: each accepts the entries of the others if they continue its own, and if they end
/// with the head outside the database or, on a database of many machines, with a head that one of them has signed
/// (``SignedHead``). Any other audit is an error, and nothing is written or signed.
package final class Catalog: Sendable {
    /// The database.
    package let engine: any StorageEngine
    /// The id of this server.
    package let server: RandomID
    /// The digest of the first statement of approvers, from the configuration.
    package let genesis: Digest
    package let head: HeadFile
    /// The clock, as far as it is trusted.
    package let time: ServerTime
    private let kept: Mutex<Ledger>
    private let unwritable = Mutex<ServerError?>(nil)
    /// The secrets whose signatures of heads are valid; the first one signs.
    let seals: Mutex<[AuditSeal]>
    /// The state of this process about the head file and the signature in the database.
    let headState = Mutex(HeadState())
    /// Whether this machine had no head, and begins with the one that another machine has signed.
    package let isJoining: Bool

    /// The reason why the last write to the database failed; nil if it succeeded.
    package var writeProblem: ServerError? { unwritable.withLock { $0 } }

    package func cannotWrite(because problem: ServerError) { unwritable.withLock { $0 = problem } }

    /// The state that the audit describes, as far as this process has read it.
    package var ledger: Ledger { kept.withLock { $0 } }

    /// Opens the data of an existing server.
    /// - Parameters:
    ///   - engine: the database.
    ///   - server: the id of the server, from the configuration.
    ///   - genesis: the digest of the first statement of approvers, from the configuration.
    ///   - head: the file with the head of the audit.
    ///   - time: the clock for writes.
    ///   - secrets: the secrets that heads may be signed with, on a database of many machines; the first one signs.
    /// - Throws: ``ServerError`` `brokenChain` if the database does not match the head and the genesis.
    package init(
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

    /// Initializes an empty database for a new server, with its first approvers.
    /// - Parameters:
    ///   - engine: the database.
    ///   - server: the id of the server.
    ///   - genesis: the first statement of approvers, signed by all of them.
    ///   - head: the file with the head of the audit; created here.
    ///   - time: the clock for writes.
    ///   - secrets: the secrets that heads are signed with, on a database of many machines.
    /// - Throws: ``ServerError`` `constraint` if the database is not empty; the errors of ``ApproverChain``.
    package convenience init(
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

    /// One writing transaction: its session, its time, and the ledger after it.
    package struct Step {
        package let session: any StorageSession
        package var ledger: Ledger
        /// The database's time, in seconds since 1970.
        package let now: Int64

        /// Adds an entry to the audit.
        package mutating func record(
            _ event: AuditEntry.Event, by actor: String, _ facts: [String: String]
        ) throws(ServerError) {
            let entry = try ledger.chain.next(event, by: actor, at: now, facts: facts)
            try ledger.follow(entry.bytes)
            try session.run(
                "INSERT INTO audit (place, entry) VALUES ($1, $2)", [.integer(entry.index), .bytes(entry.bytes)])
        }
    }

    /// Runs a closure in a writing transaction, with an entry in the audit for each of its actions.
    /// - Parameters:
    ///   - isVouched: whether a person confirms the clock.
    ///   - secret: the secret that signs the head from this transaction on; nil to keep the current one.
    package func transact<Value: Sendable>(
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
                // The transaction is tried again after the disk was full.
                held.release()
                held.take(try head.lock())
                let before = try caughtUp(session, from: ledger, heads: try ownHeads())
                var step = Step(session: session, ledger: before, now: try session.now())
                // Another process may have confirmed the clock.
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
                // The second line of the file states the same head until this is written.
                if (try? head.write(written.ledger.chain.head)) != nil { hasNoted(written.ledger.chain.head) }
                // A running server reports a failure of this write; a command has done its work already.
                try? time.note()
                held.release()
            }
        ).value
    }

    private func announce(_ next: AuditHead, after before: AuditHead) throws(ServerError) {
        do throws(ServerError) {
            try head.write(before, next: next)
        } catch {
            // If the head file cannot be written, the database must not be written.
            throw ServerError(
                .readOnlyDatabase, of: error.subject, expected: error.expected, found: error.found, remedy: error.remedy
            )
        }
    }

    /// Runs a closure in a reading transaction, with the ledger at the end of the audit.
    package func look<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession, Ledger) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        // Retry if another process writes between reading the database and reading the file.
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
    package func now() async throws(ServerError) -> Int64 {
        try await look { session, _ throws(ServerError) in try session.now() }
    }

    /// Entries of the audit, in order.
    /// - Parameters:
    ///   - place: the index of the entry before the first; -1 for all.
    ///   - limit: the maximum number of entries.
    package func audit(after place: Int64, limit: Int64) async throws(ServerError) -> [[UInt8]] {
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
        // The last known entry is read again: in an audit that was rewritten it differs or is missing.
        if count > 0 {
            guard let last = rows.first, try last.integer(0) == count - 1,
                Digest(of: try last.bytes(1)) == ledger.chain.head.digest
            else { throw isAnother("an audit without it", [ledger.chain.head]) }
            rows.removeFirst()
        }
        // Entries that this process has read already need no file, which may be newer than this transaction.
        if known == nil, count > 0, rows.isEmpty { return next }
        let heads: [AuditHead]
        if let known { heads = known } else { heads = try ownHeads() }
        // Read in parts, so that the memory for this does not grow with the audit.
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

    /// The number of entries that one query reads.
    package static let part = 1_000

    private static func entries(
        from place: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [StorageRow] {
        try session.run(
            "SELECT place, entry FROM audit WHERE place >= $1 ORDER BY place LIMIT $2",
            [.integer(place), .integer(Int64(part))])
    }
}

/// A lock that is released on the thread that commits, or when the transaction fails.
private final class SharedLock: Sendable {
    private let lock = Mutex<FolderLock?>(nil)

    func take(_ taken: FolderLock) { lock.withLock { $0 = taken } }

    func release() { lock.withLock { $0 = nil } }
}
