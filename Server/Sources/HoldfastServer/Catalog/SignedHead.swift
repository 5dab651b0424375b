/// The end of the audit as one of the machines has signed it that write to a database, in a table of one row. It is written
/// in the transaction of the entries.
///
/// A file beside the database cannot say where the audit of many machines ends: each has its own. So a machine takes an
/// audit if it goes on from the newest head that this machine has seen (``HeadFile``), and ends where this row says with a
/// signature of the server's secret (``AuditSeal``). An older copy of the database is refused by every machine that saw more,
/// and entries of somebody without the secret by all of them.
struct SignedHead: Sendable, Hashable {
    /// The end.
    let head: AuditHead
    /// Which secret has signed it.
    let secretID: [UInt8]
    /// The signature.
    let code: [UInt8]

    /// Signs an end.
    init(_ head: AuditHead, by seal: AuditSeal) {
        self.head = head
        secretID = seal.secretID
        code = seal.code(of: head)
    }

    /// Reads the row; nil if there is none.
    init?(_ session: any StorageSession) throws(ServerError) {
        let row = try session.run("SELECT count, digest, secret_id, code FROM audit_head WHERE id = 1").first
        guard let row else { return nil }
        head = AuditHead(count: try row.integer(0), digest: try row.bytes(1) { Digest(bytes: $0) })
        secretID = try row.bytes(2)
        code = try row.bytes(3)
    }

    /// Writes the row in the place of one that the same secret has signed, or of any.
    /// - Parameter isOther: whether another secret signs from now on.
    /// - Throws: ``ServerError`` `secretFile` for a row of another secret: what is not signed, no other machine takes.
    func store(_ session: any StorageSession, replacingSecret isOther: Bool = false) throws(ServerError) {
        if isOther { try session.run("DELETE FROM audit_head") }
        let written = try session.run(
            """
            INSERT INTO audit_head (id, count, digest, secret_id, code) VALUES (1, $1, $2, $3, $4) \
            ON CONFLICT (id) DO UPDATE SET count = excluded.count, digest = excluded.digest, code = excluded.code \
            WHERE audit_head.secret_id = excluded.secret_id RETURNING id
            """, [.integer(head.count), .bytes(head.digest.bytes), .bytes(secretID), .bytes(code)])
        guard written.isEmpty else { return }
        throw (try SignedHead(session) ?? self).isOfAnotherSecret(than: secretID)
    }

    /// That this is signed with a secret that a machine has not.
    /// - Parameter own: what that machine has; nil for none.
    func isOfAnotherSecret(than own: [UInt8]?) -> ServerError {
        ServerError(
            .secretFile, of: "audit",
            expected: "the secret \(Hex.encode(secretID)), with which the end of the audit is signed",
            found: own.map { "the secret \(Hex.encode($0))" } ?? "none",
            remedy:
                "Copy the file of the secret from a machine that writes, such as the one that ran reseal, and start serve anew."
        )
    }
}
