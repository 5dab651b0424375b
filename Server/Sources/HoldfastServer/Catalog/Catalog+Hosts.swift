import Holdfast

extension Catalog {
    /// Adds a host, or replaces how it is dialed and renewed.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist; `invalidValue` for an address to dial that cannot be
    ///   dialed; `constraint` for one host more than the app may have.
    public func set(_ host: CatalogHost, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in try step.set(host, of: app, by: actor) }
    }

    /// The hosts of an app, sorted by name and port.
    /// - Throws: ``ServerError``; `brokenChain` if they are not those of the audit.
    public func hosts(of app: AppName) async throws(ServerError) -> [CatalogHost] {
        try await look { session, ledger throws(ServerError) in
            try Self.hosts(of: app, session, ledger).map(\.host)
        }
    }

    /// A host of an app.
    /// - Throws: ``ServerError`` `notFound`.
    public func host(_ name: String, _ port: Int64, of app: AppName) async throws(ServerError) -> CatalogHost {
        try await look { session, ledger throws(ServerError) in
            try Self.row(of: name, port, app, session, ledger).host
        }
    }

    /// Everything that is known of a host: what its addresses showed last, and what was announced for it.
    package struct HostView: Sendable {
        package let host: CatalogHost
        package let seen: [Observation]
        package let next: NextShown
    }

    /// Everything that is known of the hosts of an app, sorted by name and port, in one reading: each host is read once, and
    /// what belongs to it by its row.
    /// - Throws: ``ServerError``; `brokenChain` if it is not what the audit has.
    package func hostViews(of app: AppName) async throws(ServerError) -> [HostView] {
        try await look { session, ledger throws(ServerError) in
            var views: [HostView] = []
            for (id, host) in try Self.hosts(of: app, session, ledger) {
                views.append(try Self.view(id, host, app, session, ledger))
            }
            return views
        }
    }

    /// Everything that is known of a host.
    /// - Throws: ``ServerError`` `notFound`; `brokenChain` if it is not what the audit has.
    func hostView(_ name: String, _ port: Int64, of app: AppName) async throws(ServerError) -> HostView {
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

    // MARK: What was seen

    /// Notes what was seen of the host of a row. It goes on from the last observation at the address if that was the same.
    /// Observations are no evidence, so they are not in the audit; what nobody announced is.
    static func note(_ seen: Observation, at id: Int64, _ session: any StorageSession) throws(ServerError) {
        if let chain = seen.chain { try Self.store(chain, session) }
        let digest: StorageValue = .optional(seen.chain?.digest.octets)
        let last = try session.run(
            """
            SELECT id, chain_digest FROM observation WHERE host_id = $1 AND vantage = $2 AND address = $3 \
            ORDER BY last_seen_at DESC, id DESC LIMIT 1
            """, [.integer(id), .text(seen.vantage), .text(seen.address)]
        ).first
        if let last, last[1] == digest {
            try session.run(
                "UPDATE observation SET last_seen_at = $2, failure = $3 WHERE id = $1",
                [.integer(try last.integer(0)), .integer(seen.lastSeen), .optional(seen.failure)])
        } else {
            try session.run(
                """
                INSERT INTO observation (host_id, vantage, address, chain_digest, failure, first_seen_at, \
                last_seen_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
                """,
                [
                    .integer(id), .text(seen.vantage), .text(seen.address), digest, .optional(seen.failure),
                    .integer(seen.firstSeen), .integer(seen.lastSeen),
                ])
            // Nobody reads older ones, and an address that never comes again would stay for ever.
            try session.run(
                """
                DELETE FROM observation WHERE host_id = $1 AND id NOT IN (SELECT id FROM observation \
                WHERE host_id = $1 ORDER BY last_seen_at DESC, id DESC LIMIT 1000)
                """, [.integer(id)])
        }
    }

    /// What each address of a host showed last.
    /// - Throws: ``ServerError``.
    public func observations(of host: CatalogHost, _ app: AppName) async throws(ServerError) -> [Observation] {
        try await look { session, ledger throws(ServerError) in
            try Self.observations(Self.id(of: host, app, session, ledger), session)
        }
    }

    /// Says in the audit that a key was seen that nobody announced; once for each, and again if that is long ago.
    /// - Returns: whether it is new.
    /// - Throws: ``ServerError``.
    @discardableResult
    public func alarm(
        about digest: Digest, on host: CatalogHost, of app: AppName, words: String
    ) async throws(ServerError) -> Bool {
        try await transact { step throws(ServerError) in
            let name = Ledger.Name(app: app, name: "\(host.label) \(digest)")
            guard !step.ledger.hasAlarm(name, at: step.now) else { return false }
            try step.record(
                .alarm, by: "watcher",
                ["app": "\(app)", "host": host.label, "digest": "\(digest)", "words": words])
            return true
        }
    }

    /// Whether the audit has that a key was seen, and not long ago.
    func hasAlarm(about digest: Digest, on host: CatalogHost, of app: AppName, at now: Int64) -> Bool {
        ledger.hasAlarm(Ledger.Name(app: app, name: "\(host.label) \(digest)"), at: now)
    }

    /// Says in the audit that something has to be published soon; once for each certificate or content that ends.
    func remind(
        about digest: Digest, until end: String, on host: CatalogHost, of app: AppName, words: String
    ) async throws(ServerError) {
        let name = Ledger.Name(app: app, name: "\(host.label) \(digest)")
        guard !ledger.reminders.contains(name) else { return }
        try await transact { step throws(ServerError) in
            guard !step.ledger.reminders.contains(name) else { return }
            try step.record(
                .alarm, by: "server",
                ["app": "\(app)", "host": host.label, "digest": "\(digest)", "until": end, "words": words])
        }
    }

    // MARK: Rows

    static func name(of host: CatalogHost) -> String { "host \(host.label)" }

    static func hosts(
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

    /// The host of a row; nil if it is gone, or another app's.
    static func host(
        _ id: Int64, of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> CatalogHost? {
        let rows = try session.run(
            "SELECT name, port, dial, renewal, one_key_kind FROM host WHERE id = $1 AND app = $2",
            [.integer(id), .text("\(app)")])
        return try rows.first.map { row throws(ServerError) in try host(row, of: app, ledger) }
    }

    static func host(
        _ row: StorageRow, of app: AppName, _ ledger: Ledger
    ) throws(ServerError) -> CatalogHost {
        let host = try CatalogHost(
            name: try row.text(0), port: try row.integer(1), dial: try row.optionalText(2),
            renewal: try row.text(3) { CatalogHost.Renewal(octets: $0) }, hasOneKeyKind: try row.integer(4) != 0)
        try ledger.require(app, name(of: host), host.octets)
        return host
    }

    static func id(
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
            throw ServerError(.notFound, of: "host", expected: "a host of \(app)", found: "\(name):\(port)")
        }
        return (id: try row.integer(5), host: try host(row, of: app, ledger))
    }

    static func store(_ chain: HostChain, _ session: any StorageSession) throws(ServerError) {
        try session.run(
            "INSERT INTO chain (digest, certificates) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING",
            [.octets(chain.digest.octets), .octets(chain.octets)])
        for key in chain.publicKeys { try store(key: key, session) }
    }

    static func store(key: [UInt8], _ session: any StorageSession) throws(ServerError) {
        try session.run(
            "INSERT INTO public_key (pin, octets) VALUES ($1, $2) ON CONFLICT (pin) DO NOTHING",
            [.octets(Digest(of: key).octets), .octets(key)])
    }

    /// Every key that was ever seen or announced, by its SHA-256.
    static func publicKeys(_ session: any StorageSession) throws(ServerError) -> [Digest: [UInt8]] {
        var keys: [Digest: [UInt8]] = [:]
        for row in try session.run("SELECT octets FROM public_key") {
            let key = try row.octets(0)
            keys[Digest(of: key)] = key
        }
        return keys
    }

    static func observations(_ id: Int64, _ session: any StorageSession) throws(ServerError) -> [Observation] {
        var seen: [Observation] = []
        var places: Set<[String]> = []
        for row in try session.run(
            """
            SELECT vantage, address, certificates, failure, first_seen_at, last_seen_at FROM observation \
            LEFT JOIN chain ON chain.digest = observation.chain_digest WHERE host_id = $1 \
            ORDER BY last_seen_at DESC, observation.id DESC LIMIT 1000
            """, [.integer(id)])
        {
            guard places.insert([try row.text(0), try row.text(1)]).inserted else { continue }
            seen.append(try observation(row))
        }
        return seen
    }

    static func observation(_ row: StorageRow) throws(ServerError) -> Observation {
        Observation(
            vantage: try row.text(0), address: try row.text(1),
            chain: try row.optionalOctets(2).map { octets throws(ServerError) in try HostChain(octets: octets) },
            failure: try row.optionalText(3), firstSeen: try row.integer(4), lastSeen: try row.integer(5))
    }
}

extension Catalog.Step {
    /// Adds a host, or replaces how it is dialed and renewed.
    mutating func set(_ host: CatalogHost, of app: AppName, by actor: String) throws(ServerError) {
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
        try set(app, Catalog.name(of: host), host.octets, by: actor)
    }

    /// Refuses one host more than an app may have; one that is there may be replaced.
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

extension Catalog {
    /// For how many seconds an alarm stays open after it was raised, and after its key was seen last, once something was
    /// published since: the key may have been among it, and gone again. It is raised again if the key is seen later.
    static let alarmSpan: Int64 = 30 * 86_400
}

extension Ledger {
    /// Whether an alarm was raised, and so lately that it is not raised again.
    func hasAlarm(_ name: Name, at now: Int64) -> Bool {
        alarmedAt[name].map { $0 >= now - Catalog.alarmSpan } ?? false
    }
}
