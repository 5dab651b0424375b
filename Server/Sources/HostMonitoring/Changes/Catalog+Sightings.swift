package import ServerFoundation
package import ServerModel
package import ServerStore

extension Catalog {
    /// The number of seconds after which a continuing sighting is recorded again, before it loses its validity. This
    /// writes fewer entries than one per probe.
    private static let repetition: Int64 = 2_700
    /// Maximum number of certificates in a sighting: more than a host has at all its addresses. Others are ignored.
    private static let maximumCount = 32

    /// Records the observations of one probe, all or none.
    /// - Parameters:
    ///   - looks: the observations of each host.
    ///   - accepted: the digests of the chains that clients accept, by the label of the host.
    ///   - vantage: the vantage that made them.
    ///   - app: the app.
    ///   - actor: the token or person that reports them, for the audit.
    /// - Throws: ``ServerError`` `notFound` for a host that the app does not have; `constraint` if there are too many
    ///   vantages.
    package func note(
        _ looks: [(host: CatalogHost, seen: [Observation])], accepting accepted: [String: Set<Digest>] = [:],
        from vantage: String, of app: AppName, by actor: String
    ) async throws(ServerError) {
        try Vantage.require(vantage)
        try await transact { step throws(ServerError) in
            let contents = try Self.approvedContents(of: app, step.session, step.ledger)
            for (host, seen) in looks {
                let id = try Self.id(of: host, app, step.session, step.ledger)
                try Self.requirePlace(for: vantage, of: host, at: id, step)
                let keys = contents.keys(of: host, try Self.next(id, host, app, step.session, step.ledger))
                let acceptedHere = accepted[host.label] ?? []
                let standings = Dictionary(
                    seen.compactMap(\.chain).map { chain in
                        let isApproved = chain.leafKey.map(keys.contains) ?? false
                        let isAccepted = acceptedHere.contains(chain.digest)
                        return (
                            chain.digest,
                            isAccepted ? SightingStanding.accepted : isApproved ? .approvedKey : .other
                        )
                    }, uniquingKeysWith: { first, _ in first })
                let stored = try Self.note(seen, at: id, standings: standings, step.session)
                try Self.say(
                    stored, at: seen.map(\.lastSeen).max() ?? step.now, from: vantage, at: id, host, app, contents,
                    standings, &step, by: actor)
            }
        }
    }

    /// Throws if a host has too many vantages: otherwise one that invents names would displace the others.
    private static func requirePlace(
        for vantage: String, of host: CatalogHost, at id: Int64, _ step: Step
    ) throws(ServerError) {
        let known = try step.session.run(
            """
            SELECT count(DISTINCT vantage) FROM observation WHERE host_id = $1 AND last_seen_at >= $2 AND vantage <> $3
            """, [.integer(id), .integer(step.now - Vantage.lifetime), .text(vantage)]
        ).first?.integer(0)
        guard (known ?? 0) < Int64(Vantage.maximumPerHost) else {
            throw ServerError(
                .constraint, of: host.label, expected: "at most \(Vantage.maximumPerHost) vantages within an hour",
                found: "another", remedy: "Give each machine one name, and hand in what this one sees in an hour.")
        }
    }

    /// Unannounced chains of a host that the watcher saw.
    package struct Stranger: Sendable {
        let id: Int64
        let host: CatalogHost
        let app: AppName
        let chains: [CertificateChain]
        let standings: [Digest: SightingStanding]
    }

    /// Records in the audit the unannounced certificates that the watcher saw, unless it did so recently.
    package func say(_ strangers: [Stranger], from vantage: String) async throws(ServerError) {
        guard !strangers.isEmpty else { return }
        try await transact { step throws(ServerError) in
            var contents: [AppName: ApprovedContents] = [:]
            for stranger in strangers {
                // It may have been removed meanwhile.
                guard try Self.host(stranger.id, of: stranger.app, step.session, step.ledger) == stranger.host else {
                    continue
                }
                let app = stranger.app
                let approved: ApprovedContents
                if let known = contents[app] {
                    approved = known
                } else {
                    approved = try Self.approvedContents(of: app, step.session, step.ledger)
                    contents[app] = approved
                }
                try Self.say(
                    stranger.chains, at: step.now, from: vantage, at: stranger.id, stranger.host, app, approved,
                    stranger.standings, &step, by: "watcher")
            }
        }
    }

    /// Whether the audit contains a recent entry of the same sighting, so that nothing needs to be written.
    func hasSaid(
        _ said: [Digest], from vantage: String, on host: CatalogHost, of app: AppName, at now: Int64
    ) -> Bool {
        Self.isSaid(said, at: now, from: vantage, host, app, ledger)
    }

    /// The certificates to record, up to the maximum: those with the highest standing first, so that no other
    /// certificate of a host displaces them.
    static func sayable(
        _ chains: [CertificateChain], unlike known: Set<Digest>, _ standings: [Digest: SightingStanding]
    ) -> [Digest] {
        var ranks: [Digest: Int64] = [:]
        for chain in chains where !known.contains(chain.fingerprint) {
            ranks[chain.fingerprint] = max(
                ranks[chain.fingerprint] ?? 0, (standings[chain.digest] ?? .other).rawValue)
        }
        let order = ranks.map { (rank: -$0.value, text: "\($0.key)", digest: $0.key) }
        return order.sorted { ($0.rank, $0.text) < ($1.rank, $1.text) }.prefix(maximumCount).map(\.digest)
    }

    private static func isSaid(
        _ said: some Sequence<Digest>, at time: Int64, from vantage: String, _ host: CatalogHost, _ app: AppName,
        _ ledger: Ledger
    ) -> Bool {
        guard let last = ledger.sightings[.init(app: app, name: host.label)]?[vantage] else { return false }
        return time - last.time < repetition && last.certificates.isSuperset(of: said)
    }

    /// Records the certificates that are neither published nor announced, unless there are none or the audit has them.
    private static func say(
        _ chains: [CertificateChain], at time: Int64, from vantage: String, at id: Int64, _ host: CatalogHost,
        _ app: AppName,
        _ approved: ApprovedContents, _ standings: [Digest: SightingStanding], _ step: inout Step, by actor: String
    ) throws(ServerError) {
        let next = try next(id, host, app, step.session, step.ledger)
        let said = sayable(chains, unlike: approved.certificates(of: host, next), standings)
        guard !said.isEmpty, !isSaid(said, at: time, from: vantage, host, app, step.ledger) else { return }
        try step.record(
            .seen, by: actor,
            [
                "app": "\(app)", "host": host.label, "vantage": vantage, "time": "\(time)",
                "certificates": said.map { "\($0)" }.joined(separator: ","),
            ])
    }
}

extension Ledger {
    /// The vantages that have seen a certificate of a host recently, sorted.
    package func vantages(of certificate: Digest, _ host: CatalogHost, _ app: AppName, at now: Int64) -> [String] {
        (sightings[.init(app: app, name: host.label)] ?? [:]).filter { _, sighting in
            sighting.certificates.contains(certificate) && (now - Vantage.lifetime...now).contains(sighting.time)
        }
        .keys.sorted()
    }
}
