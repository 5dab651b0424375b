package import ServerFoundation
package import ServerModel

/// Partial reads of an app's hosts, for pages and lists. Each query has a limit.
extension Catalog {
    /// The hosts of an app that sort after a name and a port, sorted by both.
    package static func hosts(
        of app: AppName, after name: String, _ port: Int64, limit: Int64, _ session: any StorageSession,
        _ ledger: Ledger
    ) throws(ServerError) -> [(id: Int64, host: CatalogHost)] {
        try session.run(
            """
            SELECT name, port, dial, renewal, one_key_kind, id FROM host WHERE app = $1 AND (name, port) > ($2, $3) \
            ORDER BY name, port LIMIT $4
            """, [.text("\(app)"), .text(name), .integer(port), .integer(limit)]
        ).map { row throws(ServerError) in (id: try row.integer(5), host: try host(row, of: app, ledger)) }
    }

    /// The host of an app with a name and a port; nil if it does not exist.
    package static func host(
        _ name: String, _ port: Int64, of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> (id: Int64, host: CatalogHost)? {
        try session.run(
            "SELECT name, port, dial, renewal, one_key_kind, id FROM host WHERE app = $1 AND name = $2 AND port = $3",
            [.text("\(app)"), .text(name), .integer(port)]
        ).first.map { row throws(ServerError) in (id: try row.integer(5), host: try host(row, of: app, ledger)) }
    }

    /// The number of hosts of an app.
    package static func hostCount(of app: AppName, _ session: any StorageSession) throws(ServerError) -> Int64 {
        try session.run("SELECT count(*) FROM host WHERE app = $1", [.text("\(app)")]).first?.integer(0) ?? 0
    }

    /// The latest observation of each address of a host from each vantage, the newest first.
    package static func latestObservations(
        _ id: Int64, limit: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [Observation] {
        try session.run(
            """
            SELECT vantage, address, certificates, failure, first_seen_at, last_seen_at FROM observation \
            LEFT JOIN chain ON chain.digest = observation.chain_digest WHERE host_id = $1 AND NOT EXISTS \
            (SELECT 1 FROM observation AS later WHERE later.host_id = observation.host_id \
            AND later.last_seen_at >= observation.last_seen_at AND later.vantage = observation.vantage \
            AND later.address = observation.address \
            AND (later.last_seen_at > observation.last_seen_at OR later.id > observation.id)) \
            ORDER BY last_seen_at DESC, observation.id DESC LIMIT $2
            """, [.integer(id), .integer(limit)]
        ).map(Self.observation)
    }

    /// The hosts of an app of which no certificate was read since a time, sorted by name and port.
    package static func unseenHosts(
        of app: AppName, since time: Int64, limit: Int64, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [(id: Int64, host: CatalogHost)] {
        try session.run(
            """
            SELECT name, port, dial, renewal, one_key_kind, id FROM host WHERE app = $1 AND NOT EXISTS \
            (SELECT 1 FROM observation WHERE observation.host_id = host.id \
            AND observation.last_seen_at >= $2 AND observation.chain_digest IS NOT NULL AND NOT EXISTS \
            (SELECT 1 FROM observation AS later WHERE later.host_id = observation.host_id \
            AND later.last_seen_at >= observation.last_seen_at AND later.vantage = observation.vantage \
            AND later.address = observation.address \
            AND (later.last_seen_at > observation.last_seen_at OR later.id > observation.id))) \
            ORDER BY name, port LIMIT $3
            """, [.text("\(app)"), .integer(time), .integer(limit)]
        ).map { row throws(ServerError) in (id: try row.integer(5), host: try host(row, of: app, ledger)) }
    }

    /// The chains that hosts of an app have presented since a time, each once.
    package static func shownChains(
        of app: AppName, since time: Int64, limit: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [CertificateChain] {
        try session.run(
            """
            SELECT DISTINCT certificates FROM host JOIN observation ON observation.host_id = host.id \
            JOIN chain ON chain.digest = observation.chain_digest WHERE host.app = $1 \
            AND observation.last_seen_at >= $2 LIMIT $3
            """, [.text("\(app)"), .integer(time), .integer(limit)]
        ).map { row throws(ServerError) in try CertificateChain(bytes: try row.bytes(0)) }
    }

    /// The chains that a host has presented since a time, each once.
    package static func shownChains(
        _ id: Int64, since time: Int64, limit: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [CertificateChain] {
        try session.run(
            """
            SELECT DISTINCT certificates FROM observation JOIN chain ON chain.digest = observation.chain_digest \
            WHERE host_id = $1 AND last_seen_at >= $2 LIMIT $3
            """, [.integer(id), .integer(time), .integer(limit)]
        ).map { row throws(ServerError) in try CertificateChain(bytes: try row.bytes(0)) }
    }
}
