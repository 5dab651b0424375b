package import HostMonitoring
package import ServerFoundation
package import ServerModel
package import ServerStore

/// The data with which a change of an app is evaluated, read in one transaction.
package struct AppSnapshot: Sendable {
    /// A host with its observations and announcements.
    package struct Host: Sendable {
        package let host: CatalogHost
        package let observations: [Observation]
        /// The announcements. Those with an expired certificate are left out, because they will not be installed.
        package var next: AnnouncedCertificates
        /// The vantages that have seen a certificate recently, from the audit.
        package let vantages: [Digest: [String]]
        /// The presented chains, each once per address, no matter which vantage has seen it: those seen within the
        /// hour, or if there are none, those seen last. An address that no longer exists does not block changes
        /// forever.
        package let shown: [Observation]

        package init(
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

    /// A published content, with the first second of its publication.
    package struct Publication: Sendable {
        package let content: Content
        package let published: Int64
        /// The time at which the next one replaced it; nil for the current one.
        package let replaced: Int64?
    }

    package let app: Catalog.App
    package var hosts: [Host]
    /// The oldest first.
    package let publications: [Publication]
    /// DER of the SubjectPublicKeyInfo of every key that is presented, announced, published, or in the content under
    /// evaluation, by its SHA-256.
    package let publicKeys: [Digest: [UInt8]]
    /// The published generation; 0 for none.
    package let generation: Int64
    /// The change that holds the canary; nil if none does.
    package let canary: Ledger.Canary?
    /// The repository that its canary follows; nil if it does not exist.
    package let canaryRepository: CanaryRepository?
    /// The reports of clients since it began; nil if the app accepts no reports, or no change holds the canary.
    package var canaryReports: CanaryReports? = nil
    /// The keys that sign for the app, by purpose.
    package let keys: SealedKeys
    /// The repository of the app, which may be empty.
    package let repository: RepositoryFiles
    /// The database's time, in seconds since 1970.
    package let now: Int64

    package init(
        app: Catalog.App, hosts: [Host], publications: [Publication], publicKeys: [Digest: [UInt8]], generation: Int64,
        canary: Ledger.Canary?, canaryRepository: CanaryRepository?, canaryReports: CanaryReports? = nil,
        keys: SealedKeys, repository: RepositoryFiles, now: Int64
    ) {
        self.app = app
        self.hosts = hosts
        self.publications = publications
        self.publicKeys = publicKeys
        self.generation = generation
        self.canary = canary
        self.canaryRepository = canaryRepository
        self.canaryReports = canaryReports
        self.keys = keys
        self.repository = repository
        self.now = now
    }

    /// The published content; nil before the first publication.
    package var published: Content? { publications.last?.content }
}

extension Catalog {
    /// Reads the data with which a change of an app is evaluated. Publications that no client holds anymore are left
    /// out.
    /// - Parameters:
    ///   - name: the app.
    ///   - content: a content whose keys are needed as well as those of the published one; nil for none.
    /// - Throws: ``ServerError``; `clock` while nothing can be evaluated.
    package func scene(of name: AppName, for content: Content? = nil) async throws(ServerError) -> AppSnapshot {
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
                // Unreadable client reports must not block a publication.
                canaryReports: try? Self.canaryReports(of: name, session, ledger),
                keys: SealedKeys(
                    app: name, fingerprints: try Self.key(.fingerprints, of: name, server, session, ledger),
                    trustServer: try Self.key(.trustServer, of: name, server, session, ledger),
                    snapshot: try Self.key(.snapshot, of: name, server, session, ledger),
                    timestamp: try Self.key(.timestamp, of: name, server, session, ledger),
                    // A damaged key prepared for later must not block signing; doctor reports it.
                    next: (try? Self.nextKeys(of: name, server, session, ledger)) ?? []),
                repository: RepositoryFiles(of: name, ledger.repository(of: name), in: self),
                now: now)
        }
    }

    /// The whole keys of contents, as far as known, and those that hosts present or announce.
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
                    content: try content(of: publication, app: app, in: session), published: publication.time,
                    replaced: replaced
                ))
        }
        return publications
    }
}
