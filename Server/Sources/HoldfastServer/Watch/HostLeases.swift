/// Which hosts are due, and who looks at them. A process that takes a host has it alone until the lease ends; one that was
/// stopped meanwhile finds its token gone, and what it saw is discarded.
///
/// Processes of all vantages share the hosts of an app, each host once in its interval. Where an app asks that several
/// vantages agree, each of them has its own turn for each host, which the processes of that vantage share.
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
        /// Whether it was the turn of a vantage, and not of whoever comes first.
        let isOwn: Bool
    }

    private let engine: any StorageEngine
    private let vantage: String

    /// Works on a database.
    /// - Parameters:
    ///   - engine: the database.
    ///   - vantage: from where this process looks.
    public init(_ engine: any StorageEngine, from vantage: String = Vantage.usual) {
        self.engine = engine
        self.vantage = vantage
    }

    /// Takes hosts that are due, the longest overdue first.
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - span: for how many seconds; longer than looking at a host can take.
    ///   - token: a new one for each call.
    /// - Throws: ``ServerError`` of the database.
    public func take(_ limit: Int64, for span: Int64, token: RandomID) async throws(ServerError) -> [Lease] {
        try await engine.write { [self] session throws(ServerError) in
            // Neither kind starves while the other has more hosts than anybody can look at.
            let isOwnFirst = token.octets.first.map { $0 & 1 == 0 } ?? true
            let first = try take(limit, for: span, token, isOwn: isOwnFirst, session)
            let rest = limit - Int64(first.count)
            return rest > 0 ? try first + take(rest, for: span, token, isOwn: !isOwnFirst, session) : first
        }
    }

    private func take(
        _ limit: Int64, for span: Int64, _ token: RandomID, isOwn: Bool, _ session: any StorageSession
    ) throws(ServerError) -> [Lease] {
        let values: [StorageValue] = [.octets(token.octets), .integer(span), .integer(limit)]
        guard isOwn else {
            // Inside the UPDATE the SELECT may run once for each row, and would take more than the limit.
            let rows = try session.run(
                """
                WITH due AS MATERIALIZED (SELECT id FROM host WHERE next_poll_at <= {now} \
                AND (leased_until IS NULL OR leased_until < {now}) \
                AND app NOT IN (SELECT name FROM app WHERE vantages > 1) \
                ORDER BY next_poll_at, id LIMIT $3 {lock} {skip}) \
                UPDATE host SET lease_token = $1, leased_until = {now} + $2 WHERE id IN (SELECT id FROM due) \
                RETURNING id, app, name, port, next_poll_at
                """, values)
            return try Self.leases(rows, token, isOwn: false)
        }
        try session.run(
            """
            INSERT INTO host_vantage (host_id, vantage, next_poll_at, lease_token, leased_until) \
            SELECT host.id, $4, {now}, $1, {now} + $2 FROM app JOIN host ON host.app = app.name \
            LEFT JOIN host_vantage AS own ON own.host_id = host.id AND own.vantage = $4 \
            WHERE app.vantages > 1 AND (own.host_id IS NULL OR (own.next_poll_at <= {now} \
            AND (own.leased_until IS NULL OR own.leased_until < {now}))) \
            ORDER BY coalesce(own.next_poll_at, 0), host.id LIMIT $3 \
            ON CONFLICT (host_id, vantage) DO UPDATE SET lease_token = excluded.lease_token, \
            leased_until = excluded.leased_until
            """, values + [.text(vantage)])
        return try own(token, session)
    }

    /// The hosts that were just taken for a vantage.
    private func own(_ token: RandomID, _ session: any StorageSession) throws(ServerError) -> [Lease] {
        let rows = try session.run(
            """
            SELECT host.id, app, name, port, host_vantage.next_poll_at FROM host_vantage \
            JOIN host ON host.id = host_vantage.host_id \
            WHERE host_vantage.vantage = $1 AND host_vantage.lease_token = $2
            """, [.text(vantage), .octets(token.octets)])
        return try Self.leases(rows, token, isOwn: true)
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
        try await engine.write { [self] session throws(ServerError) in
            let values: [StorageValue] = [
                .octets(token.octets), .integer(span), .text("\(app)"), .integer(after), .integer(limit),
            ]
            let isOwn = try session.run("SELECT name FROM app WHERE name = $1 AND vantages > 1", [.text("\(app)")])
            guard isOwn.isEmpty else {
                try session.run(
                    """
                    INSERT INTO host_vantage (host_id, vantage, next_poll_at, lease_token, leased_until) \
                    SELECT host.id, $6, {now}, $1, {now} + $2 FROM host \
                    LEFT JOIN host_vantage AS own ON own.host_id = host.id AND own.vantage = $6 \
                    WHERE host.app = $3 AND host.id > $4 \
                    AND (own.leased_until IS NULL OR own.leased_until < {now}) ORDER BY host.id LIMIT $5 \
                    ON CONFLICT (host_id, vantage) DO UPDATE SET lease_token = excluded.lease_token, \
                    leased_until = excluded.leased_until
                    """, values + [.text(vantage)])
                return try own(token, session).sorted { $0.id < $1.id }
            }
            let rows = try session.run(
                """
                WITH free AS MATERIALIZED (SELECT id FROM host WHERE app = $3 AND id > $4 \
                AND (leased_until IS NULL OR leased_until < {now}) ORDER BY id LIMIT $5 {lock} {skip}) \
                UPDATE host SET lease_token = $1, leased_until = {now} + $2 WHERE id IN (SELECT id FROM free) \
                RETURNING id, app, name, port, id
                """, values)
            return try Self.leases(rows, token, isOwn: false)
        }
    }

    private static func leases(
        _ rows: [StorageRow], _ token: RandomID, isOwn: Bool
    ) throws(ServerError) -> [Lease] {
        // RETURNING has no order: the last column does.
        let places = try rows.map { row throws(ServerError) in (try row.integer(4), try row.integer(0), row) }
        var leases: [Lease] = []
        for (_, _, row) in places.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            leases.append(
                Lease(
                    id: try row.integer(0), app: try row.text(1) { AppName(octets: $0) }, name: try row.text(2),
                    port: try row.integer(3), token: token, isOwn: isOwn))
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
        try await engine.write { [self] session throws(ServerError) in
            var written: Set<Int64> = []
            for given in returns {
                guard try release(given, session) else { continue }
                try given.write(session)
                written.insert(given.lease.id)
            }
            return written
        }
    }

    /// Ends a lease.
    /// - Returns: whether it was still held.
    private func release(_ given: Return, _ session: any StorageSession) throws(ServerError) -> Bool {
        let values: [StorageValue] = [
            .integer(given.lease.id), .octets(given.lease.token.octets), .integer(given.delay),
        ]
        guard given.lease.isOwn else {
            return try !session.run(
                """
                UPDATE host SET lease_token = NULL, leased_until = NULL, next_poll_at = {now} + $3 \
                WHERE id = $1 AND lease_token = $2 RETURNING id
                """, values
            ).isEmpty
        }
        let rows = try session.run(
            """
            UPDATE host_vantage SET lease_token = NULL, leased_until = NULL, next_poll_at = {now} + $3 \
            WHERE host_id = $1 AND lease_token = $2 AND vantage = $4 RETURNING host_id
            """, values + [.text(vantage)])
        guard !rows.isEmpty else { return false }
        // Else what is shared would go through these first, each time.
        try session.run(
            "UPDATE host SET next_poll_at = {now} + $2 WHERE id = $1",
            [.integer(given.lease.id), .integer(given.delay)])
        return true
    }
}
