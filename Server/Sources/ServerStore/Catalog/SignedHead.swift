import ServerFoundation
import ServerModel

/// The end of the audit, signed by one of the machines that write to a database, in a table of one row. It is written
/// in the transaction of the entries.
///
/// A file next to the database cannot contain the end of an audit of many machines: each has its own. Therefore a
/// machine accepts an audit if it continues the newest head that this machine has seen (``HeadFile``), and ends with
/// the head in this row, signed with the server's secret (``AuditSeal``). Every machine that has seen more refuses an
/// older copy of the database, and all machines refuse entries written without the secret.
struct SignedHead: Sendable, Hashable {
    /// The end.
    let head: AuditHead
    /// The id of the secret that has signed it.
    let secretID: [UInt8]
    /// The signature.
    let code: [UInt8]

    /// Signs an end.
    init(_ head: AuditHead, by seal: AuditSeal) {
        self.head = head
        secretID = seal.secretID
        code = seal.code(of: head)
    }

    /// Reads the row; nil if it does not exist.
    init?(_ session: any StorageSession) throws(ServerError) {
        let row = try session.run("SELECT count, digest, secret_id, code FROM audit_head WHERE id = 1").first
        guard let row else { return nil }
        head = AuditHead(count: try row.integer(0), digest: try row.bytes(1) { Digest(bytes: $0) })
        secretID = try row.bytes(2)
        code = try row.bytes(3)
    }

    /// Writes the row in place of one signed with the same secret, or of any.
    /// - Parameter isOther: whether another secret signs from now on.
    /// - Throws: ``ServerError`` `secretFile` for a row of another secret: other machines accept no unsigned entries.
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

    /// The error for a head signed with a secret that a machine does not have.
    /// - Parameter own: the id of the machine's secret; nil for none.
    func isOfAnotherSecret(than own: [UInt8]?) -> ServerError {
        ServerError(
            .secretFile, of: "audit",
            expected: "the secret \(Hex.encode(secretID)), with which the end of the audit is signed",
            found: own.map { "the secret \(Hex.encode($0))" } ?? "none",
            remedy:
                "Copy the secret file from a machine that can write, such as the one that ran "
                + "`holdfast-server reseal`, and restart serve."
        )
    }
}
