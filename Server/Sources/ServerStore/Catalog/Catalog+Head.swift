package import ServerFoundation
package import ServerModel
import Synchronization

/// The state of a process about the head file and the signature in the database.
struct HeadState: Sendable {
    /// The number of entries of the last head known to be in the file.
    var noted: Int64 = 0
    /// Whether the audit ends as this machine's file states, and that end is not signed yet.
    var waitsForSignature = false
    /// The secrets in the secret file and those next to it, whether or not they open the keys.
    var secrets: [[UInt8]] = []
    /// Whether this process signs the entries that commands without a secret write.
    var isServing = false
    /// The time of the last database read.
    var read = ContinuousClock.now
}

extension Catalog {
    /// The heads that this machine knows; empty for a machine that joins others.
    func ownHeads() throws(ServerError) -> [AuditHead] {
        guard !engine.isOfOneMachine else { return try head.heads() }
        return try head.headsIfThere() ?? []
    }

    /// Requires that an entry matches the head that this machine knows at its index.
    func requireOwn(_ entry: AuditHead, _ heads: [AuditHead]) throws(ServerError) {
        guard !engine.isOfOneMachine, let own = heads.first, own.count == entry.count else { return }
        guard own == entry else { throw isAnother("\(entry)", [own]) }
    }

    /// Requires that an audit ends at a permitted head.
    /// - Parameters:
    ///   - end: the end of the audit.
    ///   - known: the end at the last read of this process.
    ///   - heads: the heads that this machine knows: after a crash there may be a second one.
    func requireEnd(
        _ end: AuditHead, known: AuditHead, _ heads: [AuditHead], _ session: any StorageSession
    ) throws(ServerError) {
        let isOwn = heads.contains(end)
        guard !engine.isOfOneMachine else {
            guard isOwn else { throw isAnother("\(end)", heads) }
            return
        }
        // A shorter audit is an older copy, even if its signature is valid.
        guard end.count >= heads.first?.count ?? 0 else { throw isAnother("\(end)", heads) }
        guard end != known || end == .empty else { return }
        let signed = try SignedHead(session)
        let (signer, all) = seals.withLock { ($0.first, $0) }
        let seal = all.first { $0.secretID == signed?.secretID }
        if let signed, seal?.isRight(signed.code, of: signed.head) ?? false {
            guard signed.head != end else { return headState.withLock { $0.waitsForSignature = false } }
            // The audit is longer than the signed head: an entry of another machine may have followed it.
            guard signed.head.count < end.count else { throw isAnother("\(end)", [signed.head]) }
        }
        // Commands of this machine, and older versions of the program, may write without the secret.
        guard isOwn else { throw isUnsigned(end, signed, heads, all) }
        let maySign = signer.map { signed == nil || signed?.secretID == $0.secretID } ?? false
        headState.withLock { $0.waitsForSignature = maySign }
    }

    private func isUnsigned(
        _ end: AuditHead, _ signed: SignedHead?, _ heads: [AuditHead], _ seals: [AuditSeal]
    ) -> ServerError {
        guard let signed else { return heads.isEmpty ? head.isMissing : isAnother("\(end)", heads) }
        guard let seal = seals.first(where: { $0.secretID == signed.secretID }) else {
            return signed.isOfAnotherSecret(than: seals.first?.secretID)
        }
        guard seal.isRight(signed.code, of: signed.head) else {
            return ServerError(
                .brokenChain, of: "audit", expected: "an end that this server's secret has signed",
                found: "a row without a valid signature",
                remedy: "Another program wrote to the database. Stop all servers, and find out which program has write "
                    + "access.")
        }
        return ServerError(
            .brokenChain, of: "audit", expected: "the head \(signed.head), which is signed", found: "\(end)",
            remedy:
                "Try again in a few seconds: a command without the secret may have written it on another machine, "
                + "whose serve then signs it. If the error stays, another program wrote to the database: stop all "
                + "servers, and find out which program has write access."
        )
    }

    func isAnother(_ found: String, _ heads: [AuditHead]) -> ServerError {
        ServerError(
            .brokenChain, of: "audit",
            expected: "the head \(heads.map(\.description).joined(separator: ", or "))", found: found,
            remedy: "The database is an older copy, or another program wrote to it. Stop all servers. Restore the "
                + "newest database, or find out which program has write access.")
    }

    // MARK: Signing

    /// Signs heads with a secret from now on, and accepts no other signature.
    package func seal(with secret: SigningSecret) {
        seals.withLock { $0 = [AuditSeal(secret, server: server)] }
    }

    /// Stops signing heads: the secret is missing or not the one of the keys.
    package func sealNothing() {
        let held = seals.withLock { seals in
            defer { seals = [] }
            return seals.map(\.secretID)
        }
        headState.withLock { $0.secrets = held }
    }

    /// Marks this process as the server: no other process of this machine signs entries later.
    package func serve() { headState.withLock { $0.isServing = true } }

    /// Requires that an unsigned entry can be signed later by a process with the same secret. Until then, other
    /// machines accept neither this entry nor any later one.
    private func requireSignerLater(_ session: any StorageSession) throws(ServerError) {
        let (secrets, isServing) = headState.withLock { ($0.secrets, $0.isServing) }
        guard !secrets.isEmpty || isServing, let signed = try SignedHead(session), !secrets.contains(signed.secretID)
        else { return }
        throw signed.isOfAnotherSecret(than: secrets.first)
    }

    /// Signs the end of the audit, in the transaction of its last entry.
    /// - Parameter secret: the secret that signs from now on; nil to keep the current one.
    /// - Throws: ``ServerError`` `secretFile` if the head is signed with another secret that this machine does not
    ///   have.
    package func sign(_ end: AuditHead, _ session: any StorageSession, with secret: SigningSecret?) throws(ServerError)
    {
        let seal = secret.map { AuditSeal($0, server: server) } ?? seals.withLock(\.first)
        guard !engine.isOfOneMachine else { return }
        guard let seal else { return try requireSignerLater(session) }
        try SignedHead(end, by: seal).store(session, replacingSecret: secret != nil)
        headState.withLock { $0.waitsForSignature = false }
    }

    /// Signs the entries that a command without the secret wrote in this machine's folder, so that other machines
    /// accept them, and the head of a database from a version without signatures. Does nothing if the head is signed.
    /// - Throws: ``ServerError`` of the database.
    package func signHead() async throws(ServerError) {
        guard headState.withLock(\.waitsForSignature) else { return }
        try await engine.write { [self] session throws(ServerError) in
            let lock = try head.lock()
            defer { withExtendedLifetime(lock) {} }
            let end = try caughtUp(session, from: ledger, heads: try ownHeads()).chain.head
            try sign(end, session, with: nil)
        }
    }

    /// A message about the signature of the head; nil if it exists and is valid.
    /// - Throws: ``ServerError`` of the database.
    package func headDoubt() async throws(ServerError) -> String? {
        guard !engine.isOfOneMachine else { return nil }
        let seals = seals.withLock { $0 }
        return try await look { session, ledger throws(ServerError) in
            guard let signed = try SignedHead(session) else {
                return "the end of the audit is not signed: other machines cannot take it before serve has signed it"
            }
            guard let seal = seals.first(where: { $0.secretID == signed.secretID }) else {
                return
                    "the end of the audit is signed with the secret \(Hex.encode(signed.secretID)), which is not here: nothing that other machines write is taken"
            }
            return signed.head == ledger.chain.head && seal.isRight(signed.code, of: signed.head)
                ? nil
                : "the last entries of the audit are not signed: other machines cannot take them before serve has signed them"
        }
    }

    // MARK: The connection

    func hasRead() { headState.withLock { $0.read = .now } }

    /// Whether the database of several machines was not read for a minute.
    package func isOutOfReach(at now: ContinuousClock.Instant = .now) -> Bool {
        !engine.isOfOneMachine && headState.withLock { now - $0.read } > .seconds(60)
    }

    // MARK: The file

    /// Records in the file how far this machine has read a shared audit, unless another process is writing to it.
    package func note(_ end: AuditHead) {
        guard !engine.isOfOneMachine, headState.withLock({ $0.noted < end.count }),
            let lock = try? head.lockAtOnce()
        else { return }
        defer { withExtendedLifetime(lock) {} }
        // If the file cannot be written now, the head is known in memory and recorded by the next read.
        guard let heads = try? head.headsIfThere() ?? [] else { return }
        // Keep a second line until the audit ends elsewhere: a commit may still arrive after its process has ended.
        if (heads.first?.count ?? 0) < end.count {
            guard (try? head.write(end)) != nil else { return }
        }
        hasNoted(end)
    }

    func hasNoted(_ end: AuditHead) {
        headState.withLock { $0.noted = max($0.noted, end.count) }
    }
}
