/// Everything about an app that a change is judged by, read in one transaction.
struct AppSnapshot: Sendable {
    /// A host with what it shows and is about to show.
    struct Host: Sendable {
        let host: CatalogHost
        let observations: [Observation]
        /// What it is about to show. Nobody installs a certificate that has expired, so what was announced with it is over.
        var next: AnnouncedCertificates
        /// The vantages that have seen a certificate lately, as the audit has it.
        let vantages: [Digest: [String]]
        /// What is shown, each chain at each address once, whoever has seen it: as it was seen last, and if anybody has
        /// looked within the hour, what was seen then. An address that is gone stops no change for ever.
        let shown: [Observation]

        init(
            _ host: CatalogHost, _ observations: [Observation], _ next: AnnouncedCertificates,
            _ vantages: [Digest: [String]],
            at now: Int64
        ) {
            (self.host, self.observations, self.vantages) = (host, observations, vantages)
            self.next = next.lasting(at: now)
            let fresh = observations.filter { $0.lastSeen >= now - Vantage.lifetime }
            var places: Set<[String]> = []
            shown = (fresh.isEmpty ? observations : fresh).sorted { $0.lastSeen > $1.lastSeen }.filter { seen in
                places.insert([seen.address, seen.chain.map { "\($0.digest)" } ?? "-"]).inserted
            }
        }
    }

    /// A content that was published, and the second from which on it was.
    struct Publication: Sendable {
        let content: Content
        let published: Int64
        /// When the next one took its place; nil for the one that is published.
        let replaced: Int64?
    }

    let app: Catalog.App
    var hosts: [Host]
    /// The oldest first.
    let publications: [Publication]
    /// DER of the SubjectPublicKeyInfo of every key that is shown, announced, published, or in the content that is looked
    /// at, by its SHA-256.
    let publicKeys: [Digest: [UInt8]]
    /// The generation that is published; 0 for none.
    let generation: Int64
    /// The change that holds the canary; nil if none does.
    let canary: Ledger.Canary?
    /// The repository that its canary follows; nil if there is none.
    let canaryRepository: CanaryRepository?
    /// What clients report since it began; nil if the app takes no reports, or no change holds the canary.
    var canaryReports: CanaryReports? = nil
    /// The keys that sign for the app, by purpose.
    let keys: SealedKeys
    /// The repository of the app, which may be empty.
    let repository: RepositoryFiles
    /// The database's time, in seconds since 1970.
    let now: Int64

    /// What is published; nil before the first publication.
    var published: Content? { publications.last?.content }
}

extension Catalog {
    /// Reads what a change of an app is judged by. Publications that nobody holds anymore are left out.
    /// - Parameters:
    ///   - name: the app.
    ///   - content: a content whose keys are needed as well as those of what is published; nil for none.
    /// - Throws: ``ServerError``; `clock` while nothing can be judged.
    func scene(of name: AppName, for content: Content? = nil) async throws(ServerError) -> AppSnapshot {
        try await look { [self] session, ledger throws(ServerError) in
            let app = try Self.app(name, session, ledger)
            let now = try session.now()
            try requireTime(now, after: ledger.latestTime)
            var hosts: [AppSnapshot.Host] = []
            for (id, host) in try Self.hosts(of: name, session, ledger) {
                let seen = try Self.observations(id, session)
                let vantages = Dictionary(
                    seen.compactMap { $0.chain?.fingerprint }.map {
                        ($0, ledger.vantages(of: $0, host, name, at: now))
                    }, uniquingKeysWith: { first, _ in first })
                hosts.append(
                    AppSnapshot.Host(
                        host, seen, try Self.next(id, host, name, session, ledger), vantages, at: now))
            }
            let publications = try Self.publications(
                of: name, since: app.settings.timing.oldestReplacement(at: now), session, ledger)
            var contents = publications.map(\.content) + [content].compactMap(\.self)
            if let canary = ledger.canaries[name] {
                contents.append(try Self.change(canary.change, session, ledger).content)
            }
            return AppSnapshot(
                app: app, hosts: hosts, publications: publications,
                publicKeys: try Self.publicKeys(of: contents, and: hosts, session),
                generation: ledger.generation(of: name),
                canary: ledger.canaries[name],
                canaryRepository: try Self.canaryRepository(of: name, session, ledger),
                // Hearsay that cannot be read holds up nothing.
                canaryReports: try? Self.canaryReports(of: name, session, ledger),
                keys: SealedKeys(
                    app: name, fingerprints: try Self.key(.fingerprints, of: name, server, session, ledger),
                    trustServer: try Self.key(.trustServer, of: name, server, session, ledger),
                    snapshot: try Self.key(.snapshot, of: name, server, session, ledger),
                    timestamp: try Self.key(.timestamp, of: name, server, session, ledger),
                    // What is prepared and damaged holds up nothing that is signed again; doctor names it.
                    next: (try? Self.nextKeys(of: name, server, session, ledger)) ?? []),
                repository: RepositoryFiles(of: name, ledger.repository(of: name), in: self),
                now: now)
        }
    }

    /// The whole keys of contents, as far as they are known, and of what hosts show and are about to show.
    private static func publicKeys(
        of contents: [Content], and hosts: [AppSnapshot.Host], _ session: any StorageSession
    ) throws(ServerError) -> [Digest: [UInt8]] {
        var keys: [Digest: [UInt8]] = [:]
        let chains = hosts.flatMap { $0.observations.compactMap(\.chain) + $0.next.chains.map(\.chain) }
        for key in Set(chains).flatMap(\.publicKeys) + hosts.flatMap(\.next.keys) { keys[Digest(of: key)] = key }
        let pins = Set(contents.flatMap { $0.hosts.flatMap { $0.keys.map(\.pin) } })
        return try keys.merging(publicKeys(pins.subtracting(keys.keys), session)) { first, _ in first }
    }

    private static func publications(
        of app: AppName, since oldest: Int64, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [AppSnapshot.Publication] {
        let all = ledger.apps[app] ?? []
        var publications: [AppSnapshot.Publication] = []
        for (index, publication) in all.enumerated() {
            let replaced = index + 1 < all.count ? all[index + 1].time : nil
            guard replaced.map({ $0 >= oldest }) ?? true else { continue }
            publications.append(
                AppSnapshot.Publication(
                    content: try content(of: publication, app, session), published: publication.time, replaced: replaced
                ))
        }
        return publications
    }
}
