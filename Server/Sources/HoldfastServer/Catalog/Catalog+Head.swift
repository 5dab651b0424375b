import Synchronization

/// What a process knows about the file of the head, and about the signature in the database.
struct HeadState: Sendable {
    /// How many entries the head has that the file is known to have.
    var noted: Int64 = 0
    /// Whether the audit ends where this machine's file says, and nobody has signed that.
    var waitsForSignature = false
    /// The secrets that are in the file and beside it, whether or not they open the keys.
    var secrets: [[UInt8]] = []
    /// Whether this process is the one that signs what commands without a secret write.
    var isServing = false
    /// When the database was read last.
    var read = ContinuousClock.now
}

extension Catalog {
    /// The heads that this machine knows; empty for a machine that joins others.
    func ownHeads() throws(ServerError) -> [AuditHead] {
        guard !engine.isOfOneMachine else { return try head.heads() }
        return try head.headsIfThere() ?? []
    }

    /// Requires that an entry is the one that this machine knows at its place.
    func requireOwn(_ entry: AuditHead, _ heads: [AuditHead]) throws(ServerError) {
        guard !engine.isOfOneMachine, let own = heads.first, own.count == entry.count else { return }
        guard own == entry else { throw isAnother("\(entry)", [own]) }
    }

    /// Requires that an audit ends where it may.
    /// - Parameters:
    ///   - end: where it ends.
    ///   - known: where it ended when this process looked last.
    ///   - heads: the heads that this machine knows: after a crash there may be a second one.
    func requireEnd(
        _ end: AuditHead, known: AuditHead, _ heads: [AuditHead], _ session: any StorageSession
    ) throws(ServerError) {
        let isOwn = heads.contains(end)
        guard !engine.isOfOneMachine else {
            guard isOwn else { throw isAnother("\(end)", heads) }
            return
        }
        // An older copy, whatever it says about itself.
        guard end.count >= heads.first?.count ?? 0 else { throw isAnother("\(end)", heads) }
        guard end != known || end == .empty else { return }
        let signed = try SignedHead(session)
        let (signer, all) = seals.withLock { ($0.first, $0) }
        let seal = all.first { $0.secretID == signed?.secretID }
        if let signed, seal?.isRight(signed.code, of: signed.head) ?? false {
            guard signed.head != end else { return headState.withLock { $0.waitsForSignature = false } }
            // One of the machines has written more.
            guard signed.head.count < end.count else { throw isAnother("\(end)", [signed.head]) }
        }
        // Commands of this machine may have no secret, and neither had programs of before.
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
                found: "a row that somebody else wrote",
                remedy: "Somebody else wrote to the database: stop, and find out who.")
        }
        return ServerError(
            .brokenChain, of: "audit", expected: "the head \(signed.head), which is signed", found: "\(end)",
            remedy:
                "A command without the secret wrote it on another machine, whose serve signs it within seconds; else somebody else did: stop, and find out who."
        )
    }

    func isAnother(_ found: String, _ heads: [AuditHead]) -> ServerError {
        ServerError(
            .brokenChain, of: "audit",
            expected: "the head \(heads.map(\.description).joined(separator: ", or "))", found: found,
            remedy: "Somebody else wrote to the database, or it is an older copy: stop, and find out who.")
    }

    // MARK: Signing

    /// Signs heads with a secret from now on, and takes no other signature.
    func seal(with secret: SigningSecret) {
        seals.withLock { $0 = [AuditSeal(secret, server: server)] }
    }

    /// Signs no head: there is no secret, or another one than that of the keys.
    func sealNothing() {
        let held = seals.withLock { seals in
            defer { seals = [] }
            return seals.map(\.secretID)
        }
        headState.withLock { $0.secrets = held }
    }

    /// Leaves no entry for another process of this machine to sign: there is none.
    func serve() { headState.withLock { $0.isServing = true } }

    /// Requires that somebody will sign what is written without a seal: no other machine takes it before, nor anything that
    /// comes after it.
    private func requireSignerLater(_ session: any StorageSession) throws(ServerError) {
        let (secrets, isServing) = headState.withLock { ($0.secrets, $0.isServing) }
        guard !secrets.isEmpty || isServing, let signed = try SignedHead(session), !secrets.contains(signed.secretID)
        else { return }
        throw signed.isOfAnotherSecret(than: secrets.first)
    }

    /// Signs the end of the audit, in the transaction of its last entry.
    /// - Parameter secret: what signs from now on; nil for what does already.
    /// - Throws: ``ServerError`` `secretFile` if another secret signs, and nobody here has it.
    func sign(_ end: AuditHead, _ session: any StorageSession, with secret: SigningSecret?) throws(ServerError) {
        let seal = secret.map { AuditSeal($0, server: server) } ?? seals.withLock(\.first)
        guard !engine.isOfOneMachine else { return }
        guard let seal else { return try requireSignerLater(session) }
        try SignedHead(end, by: seal).store(session, replacingSecret: secret != nil)
        headState.withLock { $0.waitsForSignature = false }
    }

    /// Signs what a command without the secret wrote in this machine's folder, so that the others take it, and the head of
    /// a database from before there were signatures; nothing if that is done.
    /// - Throws: ``ServerError`` of the database.
    func signHead() async throws(ServerError) {
        guard headState.withLock(\.waitsForSignature) else { return }
        try await engine.write { [self] session throws(ServerError) in
            let lock = try head.lock()
            defer { withExtendedLifetime(lock) {} }
            let end = try caughtUp(session, from: ledger, heads: try ownHeads()).chain.head
            try sign(end, session, with: nil)
        }
    }

    /// What is to be known about the signature of the head, in words; nil if it is there and right.
    /// - Throws: ``ServerError`` of the database.
    func headDoubt() async throws(ServerError) -> String? {
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

    /// Whether a database of another machine was not read for a minute.
    func isOutOfReach(at now: ContinuousClock.Instant = .now) -> Bool {
        !engine.isOfOneMachine && headState.withLock { now - $0.read } > .seconds(60)
    }

    // MARK: The file

    /// Notes in the file how far this machine has seen the audit of many, unless somebody writes to it right now.
    func note(_ end: AuditHead) {
        guard !engine.isOfOneMachine, headState.withLock({ $0.noted < end.count }),
            let lock = try? head.lockAtOnce()
        else { return }
        defer { withExtendedLifetime(lock) {} }
        // What the file cannot take now is known in memory, and noted by the next look.
        guard let heads = try? head.headsIfThere() ?? [] else { return }
        // A second line stays until another end is there: a commit may be on its way after its process has gone.
        if (heads.first?.count ?? 0) < end.count {
            guard (try? head.write(end)) != nil else { return }
        }
        hasNoted(end)
    }

    func hasNoted(_ end: AuditHead) {
        headState.withLock { $0.noted = max($0.noted, end.count) }
    }
}
