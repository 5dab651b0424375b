import Holdfast

extension Catalog {
    /// A host whose app asks that several vantages agree.
    struct ComparedHost: Sendable {
        let id: Int64
        let host: CatalogHost
        let app: AppName
        /// How many must agree.
        let count: Int64
    }

    /// What came out of comparing vantages.
    struct Comparison: Sendable {
        /// Why nothing is judged by what was seen, in words; nil if enough agree.
        let held: String?
        /// What is new in the audit, in words; nil for nothing.
        let alarm: String?
    }

    /// Compares what vantages see of hosts, and says in the audit if they disagree: once for the same vantages and keys,
    /// and again if that is long ago.
    /// - Returns: for each host in its place.
    func compareVantages(of hosts: [ComparedHost]) async throws(ServerError) -> [Comparison] {
        guard !hosts.isEmpty else { return [] }
        let agreements = try await look { session, _ throws(ServerError) in
            let now = try session.now()
            return try hosts.map { host throws(ServerError) in
                VantageAgreement(try Self.observations(host.id, session), needing: host.count, at: now)
            }
        }
        var comparisons: [Comparison] = []
        for (host, agreement) in zip(hosts, agreements) {
            let alarm: String? =
                if let conflict = agreement.conflict { try await alarm(about: conflict, on: host) } else { nil }
            comparisons.append(Comparison(held: agreement.words, alarm: alarm))
        }
        return comparisons
    }

    private func alarm(
        about conflict: VantageAgreement.Conflict, on host: ComparedHost
    ) async throws(ServerError) -> String? {
        @Sendable func toRaise(_ ledger: Ledger, at now: Int64) -> Digest? {
            ledger.disagreementToRaise(about: conflict.digest, on: host.host.label, of: host.app, at: now)
        }
        // What is in the audit already needs no transaction.
        guard toRaise(ledger, at: try await now()) != nil else { return nil }
        return try await transact { step throws(ServerError) in
            guard let raised = toRaise(step.ledger, at: step.now) else { return nil }
            guard raised == conflict.digest else {
                return try step.raise(raised, on: host.host, of: host.app, words: conflict.words)
            }
            let words = "vantages disagree: \(conflict.words)"
            try step.record(
                .alarm, by: "watcher",
                [
                    "app": "\(host.app)", "host": host.host.label, "digest": "\(conflict.digest)",
                    "vantages": VantageAlarms.text(conflict.vantages), "words": words,
                ])
            return words
        }
    }

    /// Compares what vantages see of some hosts of an app, if it asks that several agree.
    func compareVantages(of hosts: [CatalogHost], _ app: AppName) async throws(ServerError) -> [Comparison] {
        let compared = try await look { session, ledger throws(ServerError) in
            let count = try Self.app(app, session, ledger).settings.vantages
            guard count > 1 else { return [ComparedHost]() }
            let known = try Self.hosts(of: app, session, ledger)
            return hosts.compactMap { host in
                known.first { $0.host.label == host.label }.map {
                    ComparedHost(id: $0.id, host: host, app: app, count: count)
                }
            }
        }
        return try await compareVantages(of: compared)
    }

    /// Says in the audit which vantages have seen nothing of an app's hosts for as long as a sighting counts, if fewer are
    /// left than must agree; once, until they see something again.
    /// - Returns: what is new, in words.
    /// - Throws: ``ServerError``.
    func noteSilentVantages(of app: AppName) async throws(ServerError) -> [String] {
        guard try await !silences(of: app).isEmpty else { return [] }
        return try await transact { step throws(ServerError) in
            let silences = try Self.silences(of: app, step.session, step.ledger, at: step.now)
            for silence in silences {
                try step.record(
                    .alarm, by: "watcher",
                    [
                        "app": "\(app)", "host": silence.host, "vantage": silence.vantage, "since": "\(silence.since)",
                        "digest": "\(Digest(of: Array("\(silence.vantage) \(silence.since)".utf8)))",
                        "words": silence.words,
                    ])
            }
            return silences.map(\.words)
        }
    }

    /// A vantage that sees nothing anymore.
    private struct Silence: Sendable {
        /// A host that it saw.
        let host: String
        let vantage: String
        let since: Int64
        let words: String
    }

    private func silences(of app: AppName) async throws(ServerError) -> [Silence] {
        try await look { session, ledger throws(ServerError) in
            try Self.silences(of: app, session, ledger, at: try session.now())
        }
    }

    private static func silences(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger, at now: Int64
    ) throws(ServerError) -> [Silence] {
        let count = try Self.app(app, session, ledger).settings.vantages
        guard count > 1 else { return [] }
        let rows = try session.run(
            """
            SELECT vantage, max(last_seen_at), min(host.name || ':' || host.port) FROM observation \
            JOIN host ON host.id = observation.host_id WHERE host.app = $1 AND chain_digest IS NOT NULL \
            GROUP BY vantage ORDER BY vantage
            """, [.text("\(app)")]
        ).map { row throws(ServerError) in
            (vantage: try row.text(0), since: try row.integer(1), host: try row.text(2))
        }
        let oldest = now - Vantage.lifetime
        let left = rows.filter { $0.since >= oldest }
        guard left.count < Int(count) else { return [] }
        // Who has not looked for so long will not, and rows of the table may say anything.
        return rows.filter {
            $0.since < oldest && $0.since >= now - alarmSpan && Vantage.isName($0.vantage)
                && ledger.vantages.silences[.init(app: app, name: $0.vantage)] != $0.since
        }.map { row in
            Silence(
                host: row.host, vantage: row.vantage, since: row.since,
                words: "vantage \(row.vantage) has seen nothing since \(ClockGuard.text(row.since)): \(left.count) of "
                    + "\(count) vantages that must agree look at the hosts of \(app)")
        }
    }
}
