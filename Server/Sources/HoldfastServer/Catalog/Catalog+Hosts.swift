import Holdfast

extension Catalog {
    /// Adds a host, or replaces how it is dialed and renewed.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist.
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
        let label = "\(name):\(port)"
        guard let host = try await hosts(of: app).first(where: { $0.label.utf8.elementsEqual(label.utf8) }) else {
            throw ServerError(.notFound, of: "host", expected: "a host of \(app)", found: label)
        }
        return host
    }

    /// Takes what the owner of a host announced: a chain that it is about to show.
    /// - Parameters:
    ///   - chain: the chain.
    ///   - begins: the first second at which it may be shown, in seconds since 1970.
    ///   - host: the host.
    ///   - app: the app.
    ///   - actor: who announced it, for the audit.
    /// - Throws: ``ServerError`` `notFound`.
    public func announce(
        _ chain: HostChain, from begins: Int64, on host: CatalogHost, of app: AppName, by actor: String
    ) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            try Self.makePlace(id, host, app, step) { next in next.chains.contains { $0.chain == chain } }
            try Self.store(chain, step.session)
            try step.session.run(
                """
                INSERT INTO next_chain (host_id, chain_digest, begins_at, announced_at) VALUES ($1, $2, $3, $4) \
                ON CONFLICT (host_id, chain_digest) DO UPDATE SET begins_at = excluded.begins_at
                """, [.integer(id), .octets(chain.digest.octets), .integer(begins), .integer(step.now)])
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    /// Takes a key that stands ready for a host, such as that of a certificate request.
    /// - Parameters:
    ///   - key: DER of the SubjectPublicKeyInfo.
    ///   - host: the host.
    ///   - app: the app.
    ///   - actor: who announced it, for the audit.
    /// - Throws: ``ServerError`` `notFound` or `invalidValue`.
    public func announce(
        key: [UInt8], on host: CatalogHost, of app: AppName, by actor: String
    ) async throws(ServerError) {
        guard (try? SubjectPublicKeyInfo(der: key)) != nil else {
            throw ServerError(
                .invalidValue, of: "key", expected: "a SubjectPublicKeyInfo in DER", found: "other octets")
        }
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            try Self.makePlace(id, host, app, step) { $0.keys.contains(key) }
            try Self.store(key: key, step.session)
            try step.session.run(
                """
                INSERT INTO next_key (host_id, pin, announced_at) VALUES ($1, $2, $3) \
                ON CONFLICT (host_id, pin) DO NOTHING
                """, [.integer(id), .octets(Digest(of: key).octets), .integer(step.now)])
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    /// More than any host has before it. Everything is read in each round, and goes into each draft.
    private static let greatestNextCount = 64

    /// Refuses one announcement too many for a host; those whose certificate has expired make place for others.
    /// - Parameter isKnown: whether it is among what was announced, so that nothing is added.
    private static func makePlace(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ step: Step, isKnown: (NextShown) -> Bool
    ) throws(ServerError) {
        let next = try Self.next(id, host, app, step.session, step.ledger)
        guard next.count >= greatestNextCount, !isKnown(next) else { return }
        let lasting = next.lasting(at: step.now)
        guard lasting.count < greatestNextCount else {
            throw ServerError(
                .constraint, of: host.label, expected: "less than \(greatestNextCount) announcements for a host",
                found: "\(lasting.count)",
                remedy: "Withdraw what was announced with holdfast-server next withdraw, and announce what is right.")
        }
        for chain in next.chains where !lasting.chains.contains(chain) {
            try step.session.run(
                "DELETE FROM next_chain WHERE host_id = $1 AND chain_digest = $2",
                [.integer(id), .octets(chain.chain.digest.octets)])
            try dropUnnamed(chains: [chain.chain.digest], step.session)
        }
    }

    /// Withdraws everything that was announced for a host.
    /// - Throws: ``ServerError`` `notFound`.
    public func withdrawNext(on host: CatalogHost, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            let next = try Self.next(id, host, app, step.session, step.ledger)
            try step.session.run("DELETE FROM next_chain WHERE host_id = $1", [.integer(id)])
            try step.session.run("DELETE FROM next_key WHERE host_id = $1", [.integer(id)])
            try Self.dropUnnamed(chains: next.chains.map(\.chain.digest), step.session)
            try Self.dropUnnamed(keys: next.keys.map { Digest(of: $0) }, step.session)
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    /// What was announced for a host.
    /// - Throws: ``ServerError``; `brokenChain` if it is not what the audit has.
    public func next(of host: CatalogHost, _ app: AppName) async throws(ServerError) -> NextShown {
        try await look { session, ledger throws(ServerError) in
            let id = try Self.id(of: host, app, session, ledger)
            return try Self.next(id, host, app, session, ledger)
        }
    }

    // MARK: Rows

    static func name(of host: CatalogHost) -> String { "host \(host.label)" }
    private static func nextName(of host: CatalogHost) -> String { "next \(host.label)" }

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
        guard let found = try hosts(of: app, session, ledger).first(where: { $0.host.label == host.label }) else {
            throw ServerError(.notFound, of: "host", expected: "a host of \(app)", found: host.label)
        }
        return found.id
    }

    static func next(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> NextShown {
        let next = try rows(next: id, session)
        let isNothing = next.chains.isEmpty && next.keys.isEmpty
        if !isNothing || ledger.settings[.init(app: app, name: nextName(of: host))] != nil {
            try ledger.require(app, nextName(of: host), next.octets)
        }
        return next
    }

    private static func rows(next id: Int64, _ session: any StorageSession) throws(ServerError) -> NextShown {
        var chains: [NextShown.Chain] = []
        for row in try session.run(
            """
            SELECT certificates, begins_at FROM next_chain JOIN chain ON chain.digest = next_chain.chain_digest \
            WHERE host_id = $1 ORDER BY begins_at, chain_digest
            """, [.integer(id)])
        {
            chains.append(NextShown.Chain(try HostChain(octets: try row.octets(0)), from: try row.integer(1)))
        }
        var keys: [[UInt8]] = []
        for row in try session.run(
            """
            SELECT octets FROM next_key JOIN public_key ON public_key.pin = next_key.pin WHERE host_id = $1 \
            ORDER BY next_key.pin
            """, [.integer(id)])
        {
            keys.append(try row.octets(0))
        }
        return NextShown(chains: chains, keys: keys)
    }

    private static func recordNext(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ step: inout Step, by actor: String
    ) throws(ServerError) {
        try step.set(app, nextName(of: host), try rows(next: id, step.session).octets, by: actor)
    }
}

extension Catalog.Step {
    /// Adds a host, or replaces how it is dialed and renewed.
    mutating func set(_ host: CatalogHost, of app: AppName, by actor: String) throws(ServerError) {
        try requireApp(app)
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
}
