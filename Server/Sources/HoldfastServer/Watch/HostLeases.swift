/// Which hosts are due, and who looks at them. A process that takes a host has it alone until the lease ends; one that was
/// stopped meanwhile finds its token gone, and what it saw is discarded.
///
/// All times are the database's own.
public struct HostLeases: Sendable {
    /// A host that was taken.
    public struct Lease: Sendable, Hashable {
        /// Its row.
        let id: Int64
        /// Whose it is.
        public let app: AppName
        /// Its name.
        public let name: String
        /// Its port.
        public let port: Int64
        /// Who took it.
        public let token: RandomID
    }

    private let engine: any StorageEngine

    /// Works on a database.
    public init(_ engine: any StorageEngine) { self.engine = engine }

    /// Takes hosts that are due, the longest overdue first.
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - span: for how many seconds; longer than looking at a host can take.
    ///   - token: a new one for each call.
    /// - Throws: ``ServerError`` of the database.
    public func take(_ limit: Int64, for span: Int64, token: RandomID) async throws(ServerError) -> [Lease] {
        try await engine.write { session throws(ServerError) in
            // Inside the UPDATE the SELECT may run once for each row, and would take more than the limit.
            let rows = try session.run(
                """
                WITH due AS MATERIALIZED (SELECT id FROM host WHERE next_poll_at <= {now} \
                AND (leased_until IS NULL OR leased_until < {now}) \
                ORDER BY next_poll_at, id LIMIT $3 {lock} {skip}) \
                UPDATE host SET lease_token = $1, leased_until = {now} + $2 WHERE id IN (SELECT id FROM due) \
                RETURNING id, app, name, port, next_poll_at
                """, [.bytes(token.bytes), .integer(span), .integer(limit)])
            return try Self.leases(rows, token)
        }
    }

    /// Takes the hosts of an app, due or not, in the order in which they were added.
    /// - Parameters:
    ///   - app: the app.
    ///   - after: the row of the last host of the page before; 0 for the first page.
    ///   - limit: how many at most.
    ///   - span: for how many seconds.
    ///   - token: a new one for each call.
    /// - Returns: the hosts that nobody else has right now.
    /// - Throws: ``ServerError`` of the database.
    func take(
        of app: AppName, after: Int64, _ limit: Int64, for span: Int64, token: RandomID
    ) async throws(ServerError) -> [Lease] {
        try await engine.write { session throws(ServerError) in
            let rows = try session.run(
                """
                WITH free AS MATERIALIZED (SELECT id FROM host WHERE app = $3 AND id > $4 \
                AND (leased_until IS NULL OR leased_until < {now}) ORDER BY id LIMIT $5 {lock} {skip}) \
                UPDATE host SET lease_token = $1, leased_until = {now} + $2 WHERE id IN (SELECT id FROM free) \
                RETURNING id, app, name, port, id
                """,
                [
                    .bytes(token.bytes), .integer(span), .text("\(app)"), .integer(after), .integer(limit),
                ])
            return try Self.leases(rows, token)
        }
    }

    private static func leases(
        _ rows: [StorageRow], _ token: RandomID
    ) throws(ServerError) -> [Lease] {
        // RETURNING has no order: the last column does.
        let places = try rows.map { row throws(ServerError) in (try row.integer(4), try row.integer(0), row) }
        var leases: [Lease] = []
        for (_, _, row) in places.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            leases.append(
                Lease(
                    id: try row.integer(0), app: try row.text(1) { AppName(bytes: $0) }, name: try row.text(2),
                    port: try row.integer(3), token: token))
        }
        return leases
    }

    /// What is given back.
    struct Return: Sendable {
        let lease: Lease
        /// After how many seconds it is due again.
        let delay: Int64
        /// Writes what was seen.
        let write: @Sendable (any StorageSession) throws(ServerError) -> Void
    }

    /// Gives a host back, with what was seen of it.
    /// - Parameters:
    ///   - lease: what was taken.
    ///   - delay: after how many seconds it is due again.
    ///   - write: writes what was seen, in the same transaction, and only if nobody else has taken the host since.
    /// - Returns: whether it was written.
    /// - Throws: ``ServerError`` of the database, or of the closure.
    func giveBack(
        _ lease: Lease, dueIn delay: Int64,
        _ write: @escaping @Sendable (any StorageSession) throws(ServerError) -> Void
    ) async throws(ServerError) -> Bool {
        try await giveBack([Return(lease: lease, delay: delay, write: write)]).contains(lease.id)
    }

    /// Gives hosts back in one transaction: each waits for the disk, and many at once wait no longer than one.
    /// - Returns: the rows of those that were written.
    /// - Throws: ``ServerError`` of the database, or of a closure.
    func giveBack(_ returns: [Return]) async throws(ServerError) -> Set<Int64> {
        try await engine.write { session throws(ServerError) in
            var written: Set<Int64> = []
            for given in returns {
                guard try Self.release(given, session) else { continue }
                try given.write(session)
                written.insert(given.lease.id)
            }
            return written
        }
    }

    /// Ends a lease.
    /// - Returns: whether it was still held.
    private static func release(_ given: Return, _ session: any StorageSession) throws(ServerError) -> Bool {
        try !session.run(
            """
            UPDATE host SET lease_token = NULL, leased_until = NULL, next_poll_at = {now} + $3 \
            WHERE id = $1 AND lease_token = $2 RETURNING id
            """,
            [.integer(given.lease.id), .bytes(given.lease.token.bytes), .integer(given.delay)]
        ).isEmpty
    }
}
