import Holdfast
package import ServerFoundation
package import ServerModel

extension Catalog {
    /// Adds a host, or changes how it is dialed and renewed.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist; `invalidValue` for an address that cannot
    ///   be dialed; `constraint` if the app has its maximum number of hosts.
    package func set(_ host: CatalogHost, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in try step.set(host, of: app, by: actor) }
    }

    /// The hosts of an app, sorted by name and port.
    /// - Throws: ``ServerError``; `brokenChain` if the rows do not match the audit.
    package func hosts(of app: AppName) async throws(ServerError) -> [CatalogHost] {
        try await look { session, ledger throws(ServerError) in
            try Self.hosts(of: app, session, ledger).map(\.host)
        }
    }

    /// A host of an app.
    /// - Throws: ``ServerError`` `notFound`.
    package func host(_ name: String, _ port: Int64, of app: AppName) async throws(ServerError) -> CatalogHost {
        try await look { session, ledger throws(ServerError) in
            try Self.row(of: name, port, app, session, ledger).host
        }
    }

    /// A host with the latest observations of its addresses and its announcements.
    package struct HostView: Sendable {
        package let host: CatalogHost
        package let seen: [Observation]
        package let next: AnnouncedCertificates
    }

    /// The hosts of an app with observations and announcements, sorted by name and port. One read covers everything:
    /// each host is read once, and its data by its row.
    /// - Throws: ``ServerError``; `brokenChain` if the rows do not match the audit.
    package func hostViews(of app: AppName) async throws(ServerError) -> [HostView] {
        try await look { session, ledger throws(ServerError) in
            var views: [HostView] = []
            for (id, host) in try Self.hosts(of: app, session, ledger) {
                views.append(try Self.view(id, host, app, session, ledger))
            }
            return views
        }
    }

    /// A host with its observations and announcements.
    /// - Throws: ``ServerError`` `notFound`; `brokenChain` if the rows do not match the audit.
    package func hostView(_ name: String, _ port: Int64, of app: AppName) async throws(ServerError) -> HostView {
        try await look { session, ledger throws(ServerError) in
            let (id, host) = try Self.row(of: name, port, app, session, ledger)
            return try Self.view(id, host, app, session, ledger)
        }
    }

    private static func view(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> HostView {
        HostView(
            host: host, seen: try observations(id, session), next: try next(id, host, app, session, ledger))
    }

    // MARK: Rows

    package static func name(of host: CatalogHost) -> String { "host \(host.label)" }

    package static func hosts(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [(id: Int64, host: CatalogHost)] {
        var hosts: [(id: Int64, host: CatalogHost)] = []
        for row in try session.run(
            "SELECT name, port, dial, renewal, one_key_kind, id FROM host WHERE app = $1 ORDER BY name, port",
            [.text("\(app)")])
        {
            hosts.append((id: try row.integer(5), host: try host(row, of: app, ledger)))
        }
        return hosts
    }

    /// The host of a row; nil if it was removed, or belongs to another app.
    package static func host(
        _ id: Int64, of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> CatalogHost? {
        let rows = try session.run(
            "SELECT name, port, dial, renewal, one_key_kind FROM host WHERE id = $1 AND app = $2",
            [.integer(id), .text("\(app)")])
        return try rows.first.map { row throws(ServerError) in try host(row, of: app, ledger) }
    }

    package static func host(
        _ row: StorageRow, of app: AppName, _ ledger: Ledger
    ) throws(ServerError) -> CatalogHost {
        let host = try CatalogHost(
            name: try row.text(0), port: try row.integer(1), dial: try row.optionalText(2),
            renewal: try row.text(3) { CatalogHost.Renewal(bytes: $0) }, hasOneKeyKind: try row.integer(4) != 0)
        try ledger.require(app, name(of: host), host.bytes)
        return host
    }

    package static func id(
        of host: CatalogHost, _ app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> Int64 {
        try row(of: host.name, host.port, app, session, ledger).id
    }

    /// A host by its name and port.
    /// - Throws: ``ServerError`` `notFound`.
    private static func row(
        of name: String, _ port: Int64, _ app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> (id: Int64, host: CatalogHost) {
        let row = try session.run(
            """
            SELECT name, port, dial, renewal, one_key_kind, id FROM host WHERE app = $1 AND name = $2 AND port = $3
            """, [.text("\(app)"), .text(name), .integer(port)]
        ).first
        guard let row else {
            throw ServerError(
                .notFound, of: "host", expected: "a host of \(app)", found: "\(name):\(port)",
                remedy: "Name one that `holdfast-server host list \(app) --data DIR` shows.")
        }
        return (id: try row.integer(5), host: try host(row, of: app, ledger))
    }
}

extension Catalog.Step {
    /// Adds a host, or changes how it is dialed and renewed.
    package mutating func set(_ host: CatalogHost, of app: AppName, by actor: String) throws(ServerError) {
        try requireApp(app)
        try host.requireDialable()
        try requireRoom(for: host, of: app)
        try session.run(
            """
            INSERT INTO host (app, name, port, dial, renewal, one_key_kind, next_poll_at) \
            VALUES ($1, $2, $3, $4, $5, $6, {now}) ON CONFLICT (app, name, port) DO UPDATE \
            SET dial = excluded.dial, renewal = excluded.renewal, one_key_kind = excluded.one_key_kind
            """,
            [
                .text("\(app)"), .text(host.name), .integer(host.port), .optional(host.dial),
                .text(host.renewal.rawValue), .integer(host.hasOneKeyKind ? 1 : 0),
            ])
        try set(app, Catalog.name(of: host), host.bytes, by: actor)
    }

    /// Throws if a new host exceeds the maximum of the app; an existing host may be replaced.
    private func requireRoom(for host: CatalogHost, of app: AppName) throws(ServerError) {
        let known = try session.run(
            "SELECT count(*), coalesce(sum(CASE WHEN name = $2 AND port = $3 THEN 1 ELSE 0 END), 0) FROM host WHERE app = $1",
            [.text("\(app)"), .text(host.name), .integer(host.port)]
        ).first
        let (count, same) = (try known?.integer(0) ?? 0, try known?.integer(1) ?? 0)
        guard same == 0 else { return }
        let maximum = try Catalog.app(app, session, ledger).settings.maximumHosts
        guard count < maximum else {
            throw ServerError(
                .constraint, of: "hosts", expected: "at most \(maximum) hosts of \(app)", found: "one more",
                remedy:
                    "Raise the number with holdfast-server app settings --maximum-hosts, or name hosts by a pattern.")
        }
    }
}
