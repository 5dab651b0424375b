extension Catalog {
    /// Fewer entries than looks: what a vantage goes on seeing is said again after so many seconds, before it counts no
    /// more.
    private static let repetition: Int64 = 2_700
    /// More certificates than a host has at all its addresses. Others are not said, and count for nothing.
    private static let greatestCount = 32

    /// Notes what was seen in one look, all of it or nothing.
    /// - Parameters:
    ///   - looks: what was seen of each host.
    ///   - vantage: from where.
    ///   - app: the app.
    ///   - actor: who says so, for the audit.
    /// - Throws: ``ServerError`` `notFound` for a host that the app has not.
    public func note(
        _ looks: [(host: CatalogHost, seen: [Observation])], from vantage: String, of app: AppName, by actor: String
    ) async throws(ServerError) {
        try Vantage.require(vantage)
        try await transact { step throws(ServerError) in
            for (host, seen) in looks {
                let id = try Self.id(of: host, app, step.session, step.ledger)
                for observation in seen { try Self.note(observation, at: id, step.session) }
                try Self.say(
                    seen.compactMap(\.chain), at: seen.map(\.lastSeen).max() ?? step.now, from: vantage, at: id, host,
                    app,
                    &step, by: actor)
            }
        }
    }

    /// What the watcher saw of a host that nobody announced.
    struct Stranger: Sendable {
        let id: Int64
        let host: CatalogHost
        let app: AppName
        let chains: [HostChain]
    }

    /// Says in the audit what the watcher saw that nobody announced, unless it said so lately.
    func say(_ strangers: [Stranger], from vantage: String) async throws(ServerError) {
        guard !strangers.isEmpty else { return }
        try await transact { step throws(ServerError) in
            for stranger in strangers {
                // It may have been removed meanwhile.
                guard try Self.host(stranger.id, of: stranger.app, step.session, step.ledger) == stranger.host else {
                    continue
                }
                try Self.say(
                    stranger.chains, at: step.now, from: vantage, at: stranger.id, stranger.host, stranger.app, &step,
                    by: "watcher")
            }
        }
    }

    /// Whether the audit has lately what a vantage sees, so that nothing has to be written.
    func hasSaid(
        _ strange: Set<Digest>, from vantage: String, on host: CatalogHost, of app: AppName, at now: Int64
    ) -> Bool {
        let said = strange.sorted { "\($0)" < "\($1)" }.prefix(Self.greatestCount)
        return Self.isSaid(said, at: now, from: vantage, host, app, ledger)
    }

    private static func isSaid(
        _ said: some Sequence<Digest>, at time: Int64, from vantage: String, _ host: CatalogHost, _ app: AppName,
        _ ledger: Ledger
    ) -> Bool {
        guard let last = ledger.sightings[.init(app: app, name: host.label)]?[vantage] else { return false }
        return time - last.time < repetition && last.certificates.isSuperset(of: said)
    }

    private static func say(
        _ chains: [HostChain], at time: Int64, from vantage: String, at id: Int64, _ host: CatalogHost, _ app: AppName,
        _ step: inout Step, by actor: String
    ) throws(ServerError) {
        guard let news = try news(chains, at: time, from: vantage, at: id, host, app, step.session, step.ledger) else {
            return
        }
        try step.record(
            .seen, by: actor,
            [
                "app": "\(app)", "host": host.label, "vantage": vantage, "time": "\(time)",
                "certificates": news.joined(separator: ","),
            ])
    }

    /// The certificates that are neither published nor announced; nil if there are none, or if the audit has them.
    private static func news(
        _ chains: [HostChain], at time: Int64, from vantage: String, at id: Int64, _ host: CatalogHost, _ app: AppName,
        _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [String]? {
        let published = try ledger.publication(of: app).map { publication throws(ServerError) in
            try content(of: publication, app, session).hosts
        }
        let old = published?.first { "\($0.name):\($0.port)".utf8.elementsEqual(host.label.utf8) }
        let next = try next(id, host, app, session, ledger).chains.map(\.chain)
        let known = Set((old?.certificates ?? []).map(\.fingerprint) + next.map(\.fingerprint))
        let strange = Set(chains.map(\.fingerprint)).subtracting(known)
        guard !strange.isEmpty else { return nil }
        let said = strange.sorted { "\($0)" < "\($1)" }.prefix(greatestCount)
        return isSaid(said, at: time, from: vantage, host, app, ledger) ? nil : said.map { "\($0)" }
    }
}

extension Ledger {
    /// The vantages that have seen a certificate of a host lately, sorted.
    func vantages(of certificate: Digest, _ host: CatalogHost, _ app: AppName, at now: Int64) -> [String] {
        (sightings[.init(app: app, name: host.label)] ?? [:]).filter { _, sighting in
            sighting.certificates.contains(certificate) && (now - Vantage.lifetime...now).contains(sighting.time)
        }
        .keys.sorted()
    }
}
