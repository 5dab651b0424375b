package import ServerFoundation
package import ServerStore

/// A lease on a destination: only one of several uploaders holds it at a time.
package struct PlaceTurn: Sendable {
    let app: AppName
    let place: String
    let holder: RandomID
    /// The duration of the lease, in seconds.
    let span: Int64
}

extension Catalog {
    /// The maximum pause between attempts, in seconds.
    private static let maximumPause: Int64 = 900

    /// The pause before the next attempt, in seconds: it doubles from 5 with each failure, up to 15 minutes.
    package static func pause(after failures: Int64) -> Int64 { min(5 << min(max(0, failures - 1), 8), maximumPause) }

    /// The documents that clients have not been confirmed to find at a destination, sorted by path. A withdrawn
    /// document is included only if it was delivered there.
    static func outstanding(
        of app: AppName, in place: String, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [(path: String, version: Ledger.Version)] {
        var found: [String: Int64] = [:]
        for row in try session.run(
            "SELECT format, version FROM delivered WHERE app = $1 AND place = $2", [.text("\(app)"), .text(place)])
        {
            found[try row.text(0)] = try row.integer(1)
        }
        return ledger.documents.filter { name, version in
            guard name.app == app else { return false }
            return found[name.name].map { $0 < version.version } ?? !version.isWithdrawn
        }.map { (path: $0.key.name, version: $0.value) }
            .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Acquires the lease on a destination, if the pause after a failure is over and no other uploader holds it.
    /// - Parameter span: for how many seconds.
    /// - Returns: nil if the lease is not available now.
    package func turn(at place: String, of app: AppName, for span: Int64) async throws(ServerError) -> PlaceTurn? {
        var generator = SystemRandomNumberGenerator()
        let turn = PlaceTurn(app: app, place: place, holder: RandomID(using: &generator), span: span)
        let isOurs = try await engine.write { session throws(ServerError) in
            let now = try session.now()
            return try !session.run(
                """
                UPDATE place SET holder = $3, held_until = $4 WHERE app = $1 AND name = $2 AND due_at <= $5 \
                AND held_until <= $5 RETURNING name
                """,
                [
                    .text("\(app)"), .text(place), .bytes(turn.holder.bytes), .integer(now + span), .integer(now),
                ]
            ).isEmpty
        }
        return isOurs ? turn : nil
    }

    /// Renews the lease before the next step.
    /// - Throws: ``ServerError`` `outOfTurn` if it has expired, or another uploader holds it.
    func extend(_ turn: PlaceTurn) async throws(ServerError) {
        try await engine.write { session throws(ServerError) in
            try Self.require(turn, in: session)
            try session.run(
                "UPDATE place SET held_until = $3 WHERE app = $1 AND name = $2",
                [.text("\(turn.app)"), .text(turn.place), .integer(try session.now() + turn.span)])
        }
    }

    /// Releases the lease, and records the documents that clients find there now.
    /// - Parameters:
    ///   - delivered: the documents that a client has read back.
    ///   - isFailed: whether a document was not found; the destination is tried again after a pause.
    /// - Throws: ``ServerError`` `outOfTurn`; nothing is recorded then.
    package func end(
        _ turn: PlaceTurn, delivered: [StoredDocument], isFailed: Bool
    ) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            let failures = try Self.require(turn, in: step.session) + 1
            let key: [StorageValue] = [.text("\(turn.app)"), .text(turn.place)]
            for document in delivered {
                try step.session.run(
                    """
                    INSERT INTO delivered (app, place, format, version) VALUES ($1, $2, $3, $4) \
                    ON CONFLICT (app, place, format) DO UPDATE SET version = excluded.version \
                    WHERE delivered.version < excluded.version
                    """, key + [.text(document.path), .integer(document.version)])
            }
            let isBehind = try !Self.outstanding(of: turn.app, in: turn.place, step.session, step.ledger).isEmpty
            try step.session.run(
                """
                UPDATE place SET holder = NULL, held_until = 0, failures = $3, due_at = $4, \
                confirmed_at = CASE WHEN $5 = 1 THEN $6 ELSE confirmed_at END, \
                behind_since = CASE WHEN $7 = 0 THEN NULL ELSE coalesce(behind_since, $6) END \
                WHERE app = $1 AND name = $2
                """,
                key + [
                    .integer(isFailed ? failures : 0), .integer(isFailed ? step.now + Self.pause(after: failures) : 0),
                    .integer(delivered.isEmpty ? 0 : 1), .integer(step.now), .integer(isBehind ? 1 : 0),
                ])
        }
    }

    /// - Returns: how often the destination has failed.
    @discardableResult
    private static func require(_ turn: PlaceTurn, in session: any StorageSession) throws(ServerError) -> Int64 {
        let row = try session.run(
            """
            SELECT failures FROM place WHERE app = $1 AND name = $2 AND holder = $3 AND held_until > $4 {lock}
            """,
            [.text("\(turn.app)"), .text(turn.place), .bytes(turn.holder.bytes), .integer(try session.now())]
        ).first
        guard let row else {
            throw ServerError(
                .outOfTurn, of: "place \(turn.place)", expected: "that no other machine delivers there",
                found: "that the lease has expired")
        }
        return try row.integer(0)
    }
}
