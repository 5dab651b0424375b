import ServerFoundation
import ServerStore

/// Leases of hosts that are due for a probe. A process that takes a host has it exclusively until the lease ends. If it
/// was stopped for longer, its token is no longer valid, and its observations are discarded.
///
/// All times are by the database's clock.
struct HostLeases: Sendable {
    /// A leased host.
    struct Lease: Sendable, Hashable {
        /// The id of its row.
        let id: Int64
        /// Its app.
        let app: AppName
        /// Its name.
        let name: String
        /// Its port.
        let port: Int64
        /// The token of the process that leased it.
        let token: RandomID
    }

    private let engine: any StorageEngine

    /// Makes leases on a database.
    init(_ engine: any StorageEngine) { self.engine = engine }

    /// Leases hosts that are due, the longest overdue first.
    /// - Parameters:
    ///   - limit: the maximum number.
    ///   - span: the number of seconds; longer than a probe of a host can take.
    ///   - token: a new one for each call.
    /// - Throws: ``ServerError`` of the database.
    func take(_ limit: Int64, for span: Int64, token: RandomID) async throws(ServerError) -> [Lease] {
        try await engine.write { session throws(ServerError) in
            // In the UPDATE, the SELECT could run once per row and lease more hosts than the limit.
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

    /// Leases the hosts of an app, due or not, in the order in which they were added.
    /// - Parameters:
    ///   - app: the app.
    ///   - after: the row of the last host of the page before; 0 for the first page.
    ///   - limit: the maximum number.
    ///   - span: the number of seconds.
    ///   - token: a new one for each call.
    /// - Returns: the hosts that no other process has leased.
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
        // RETURNING has no order, so sort by the last column.
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

    /// A lease to return, with its observations.
    struct Return: Sendable {
        let lease: Lease
        /// The number of seconds after which the host is due again.
        let delay: Int64
        /// Writes the observations.
        let write: @Sendable (any StorageSession) throws(ServerError) -> Void
    }

    /// Returns the lease of a host, with the observations.
    /// - Parameters:
    ///   - lease: the lease.
    ///   - delay: the number of seconds after which the host is due again.
    ///   - write: writes the observations, in the same transaction, only if the lease is still valid.
    /// - Returns: whether they were written.
    /// - Throws: ``ServerError`` of the database, or of the closure.
    func giveBack(
        _ lease: Lease, dueIn delay: Int64,
        _ write: @escaping @Sendable (any StorageSession) throws(ServerError) -> Void
    ) async throws(ServerError) -> Bool {
        try await giveBack([Return(lease: lease, delay: delay, write: write)]).contains(lease.id)
    }

    /// Returns leases in one transaction, so that many together wait for the disk only once.
    /// - Returns: the ids of the hosts whose observations were written.
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
