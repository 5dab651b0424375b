import HoldfastPublishing

/// Finds what people should be told now. News that is over is not found anymore, so nobody is told about it late.
struct NoticeFinder: Sendable {
    private let server: RandomID
    /// For how many seconds the clients of an app go on without asking, and of which settings that was read.
    private var stalenesses: [AppName: (settings: Digest, seconds: Int64)] = [:]
    /// Those who approve, and the statement that says so.
    private var approvers: (statement: Digest, members: [ApproverSet.Member])?
    /// The documents and generations of the last round, and where the audit ended after it.
    private var round: (documents: [Ledger.Name: Ledger.Version], generations: [AppName: Int64], head: AuditHead)?

    /// Whether no space is held back for a full disk.
    private var lacksReserve = false
    /// How apps stand.
    private var standings: [Publisher.Standing] = []
    /// Why people should look at reports, and when that was last so.
    private var reported: [ReportAlarm: Int64] = [:]
    /// When that was read.
    private var reportsRead: Int64?

    /// How often reports are read, in seconds.
    private static let reportPause: Int64 = 60
    /// For how many seconds what reports said stays news. Whoever forges failures and successes in turn, so that it ends
    /// and begins again, has people told once.
    private static let reportSpan: Int64 = 86_400
    /// The news of reports at a time, which anybody can forge: they take no room of other news.
    private static let maximumReported = 32

    init(_ server: RandomID) { self.server = server }

    /// Reads for how long clients go on without asking, where that has changed.
    /// - Throws: ``ServerError`` of the database; what was known before counts then.
    mutating func readStalenesses(in catalog: Catalog) async throws(ServerError) {
        let known = stalenesses.mapValues(\.settings)
        let read = try await catalog.look { session, ledger throws(ServerError) in
            var read: [(AppName, Digest, Int64)] = []
            for app in ledger.appNames {
                let settings = ledger.settings[.init(app: app, name: Catalog.settingsName)]
                guard let settings, settings != known[app] else { continue }
                read.append((app, settings, try Catalog.app(app, session, ledger).settings.staleness))
            }
            return read
        }
        for (app, settings, seconds) in read { stalenesses[app] = (settings, seconds) }
    }

    /// Reads how apps stand, as every surface shows it.
    /// - Parameter now: seconds since 1970; nil if the clock is not to be trusted, when nothing is judged.
    mutating func readStandings(from publisher: Publisher, at now: Int64?) async {
        lacksReserve = publisher.catalog.engine.reserve?.isMissing ?? false
        standings = if let now { await publisher.currentStandings(at: now) } else { [] }
    }

    /// Reads who approves, where that has changed.
    /// - Throws: ``ServerError`` of the database; who was known before counts then.
    mutating func readApprovers(in catalog: Catalog) async throws(ServerError) {
        guard let mark = catalog.ledger.approvers, mark.digest != approvers?.statement else { return }
        let head = try await catalog.approvers().head
        approvers = (head.digest, head.approvers.members)
    }

    /// Reads what clients report, once a minute.
    /// - Throws: ``ServerError`` of the database; what was known before counts then.
    mutating func readReports(in catalog: Catalog, at now: Int64?) async throws(ServerError) {
        guard let now, reportsRead.map({ !(0..<Self.reportPause).contains(now - $0) }) ?? true else { return }
        for alarm in try await catalog.reportAlarms() { reported[alarm] = now }
        reported = reported.filter { now - $0.value < Self.reportSpan }
        reportsRead = now
    }

    /// Finds what is to be said, the most urgent first.
    /// - Parameters:
    ///   - ledger: what the audit has.
    ///   - snapshot: what is served.
    ///   - now: seconds since 1970; nil if the clock is not to be trusted, when nothing is known about ends.
    mutating func notices(
        _ ledger: Ledger, _ snapshot: PublishedSnapshot, at now: Int64?
    ) -> [Notice] {
        var notices: [Notice] = []
        if let now { notices += emergencies(ledger, at: now) }
        if lacksReserve { notices.append(reserve) }
        notices += canaries(ledger) + alarms(ledger) + reminders(ledger)
        if let now {
            notices += ends(ledger, snapshot, at: now) + alerts(at: now)
            notices += changes(ledger, at: now)
        }
        notices.append(head(ledger))
        return notices + reports()
    }

    private var reserve: Notice {
        Notice(
            .status, of: server, ["about": "reserve"],
            words: "The disk of the server is full or nearly so, and no space is held back anymore: make room.")
    }

    /// One for each approver who may approve something of the app, so that a receiver can call each of them.
    private func emergencies(_ ledger: Ledger, at now: Int64) -> [Notice] {
        var notices: [Notice] = []
        for (change, proposal) in ledger.openChanges(at: now) where proposal.isEmergency {
            let until = ClockGuard.text(PublicationTiming.changeEnd(of: proposal.time))
            for member in approvers?.members ?? [] where member.approves(proposal.app) {
                let identity = member.key.identity
                guard ledger.people.allows(identity, proposal.app) else { continue }
                notices.append(
                    Notice(
                        .emergency, of: server,
                        ["app": "\(proposal.app)", "change": "\(change)", "approver": "\(identity)", "until": until],
                        words:
                            "Emergency: a change of \(proposal.app) skips the canary. It waits for people until \(until)."
                    ))
            }
        }
        return notices
    }

    /// Whose clients are refused, and why, may be a text of a certificate: the audit and status have it.
    private func canaries(_ ledger: Ledger) -> [Notice] {
        ledger.canaries.compactMap { app, canary in
            guard let since = canary.probes.heldSince else { return nil }
            let text = ClockGuard.text(since)
            return Notice(
                .canary, of: server, ["app": "\(app)", "change": "\(canary.change)", "since": text],
                words: "Clients refuse what the canary of \(app) has, so its change waits: see status.")
        }.sorted { "\($0.id)" < "\($1.id)" }
    }

    private func alarms(_ ledger: Ledger) -> [Notice] {
        ledger.alarms.map { alarm in
            let (host, digest) = Self.parts(alarm)
            var facts = ["app": "\(alarm.app)", "host": host, "key": digest]
            // Its first raising is told of as it always was, so that nobody hears of it twice.
            if ledger.repeatedAlarms.contains(alarm), let time = ledger.alarmedAt[alarm] {
                facts["raised"] = ClockGuard.text(time)
            }
            let isAboutMany = digest.utf8.elementsEqual("\(Catalog.tooManyKeys)".utf8)
            if isAboutMany { facts["key"] = nil }
            return Notice(
                .alarm, of: server, facts,
                words: isAboutMany
                    ? "\(host) of \(alarm.app) presents more new keys than get an alert each."
                    : "\(host) of \(alarm.app) showed a key that nobody announced.")
        }.sorted { "\($0.id)" < "\($1.id)" }
    }

    private func reminders(_ ledger: Ledger) -> [Notice] {
        ledger.reminders.map { reminder in
            let (host, digest) = Self.parts(reminder)
            return Notice(
                .reminder, of: server, ["app": "\(reminder.app)", "host": host, "subject": digest],
                words: "Something has to be published for \(host) of \(reminder.app) soon: see status.")
        }.sorted { "\($0.id)" < "\($1.id)" }
    }

    /// The name of an alarm or a reminder is the host and the digest of what it is about.
    private static func parts(_ name: Ledger.Name) -> (host: String, digest: String) {
        let parts = name.name.split(separator: " ", maxSplits: 1)
        return (String(parts.first ?? ""), String(parts.dropFirst().first ?? ""))
    }

    private func ends(_ ledger: Ledger, _ snapshot: PublishedSnapshot, at now: Int64) -> [Notice] {
        ledger.appNames.compactMap { app in
            guard let end = snapshot.parts[app]?.end, let staleness = stalenesses[app]?.seconds,
                PublicationTiming(staleness: .seconds(staleness)).endsBeforeClientsAsk(end, at: now)
            else { return nil }
            let text = ClockGuard.text(end)
            return Notice(
                .end, of: server, ["app": "\(app)", "until": text],
                words: "What is published for \(app) ends at \(text), before the last of its clients has asked again.")
        }
    }

    /// One for each kind of alert of an app. What they say may have been written by a host: status has it. A canary has a
    /// notice of its own.
    private func alerts(at now: Int64) -> [Notice] {
        standings.flatMap { standing in
            let kinds = Set(standing.alerts(at: now).map(\.kind)).subtracting([.canary])
            return Publisher.StandingAlert.Kind.allCases.filter(kinds.contains).map { kind in
                Notice(
                    .status, of: server, ["app": "\(standing.app)", "about": kind.rawValue],
                    words: "\(Self.words(kind, standing.app)): see status.")
            }
        }
    }

    private static func words(_ kind: Publisher.StandingAlert.Kind, _ app: AppName) -> String {
        switch kind {
        case .lockedOut: "Clients of \(app) are locked out or will be, or nobody can say whether they are"
        case .expired: "A host of \(app) shows a certificate that has expired"
        case .held: "Nothing is signed for \(app)"
        case .canary: "Clients refuse what the canary of \(app) has"
        case .publish: "Something has to be published for \(app) soon, or at once"
        }
    }

    private func changes(_ ledger: Ledger, at now: Int64) -> [Notice] {
        ledger.openChanges(at: now).map { change, proposal in
            let until = ClockGuard.text(PublicationTiming.changeEnd(of: proposal.time))
            return Notice(
                .change, of: server, ["app": "\(proposal.app)", "change": "\(change)", "until": until],
                words: "A change of \(proposal.app) waits for people until \(until).")
        }
    }

    private mutating func head(_ ledger: Ledger) -> Notice {
        let generations = ledger.apps.compactMapValues { $0.last?.generation }
        let isSame = round.map { $0.documents == ledger.documents && $0.generations == generations } ?? false
        let head = isSame ? round?.head ?? ledger.chain.head : ledger.chain.head
        round = (ledger.documents, generations, head)
        return Notice(
            .head, of: server, ["count": "\(head.count)", "digest": "\(head.digest)"],
            words: "The audit has \(head.count) entries.")
    }

    /// What a client sent is in none: status has the figures and the certificates.
    private func reports() -> [Notice] {
        let notices: [Notice] = reported.keys.map { alarm in
            let app = "\(alarm.app)"
            switch alarm.subject {
            case .failures(let host):
                return Notice(
                    .report, of: server, ["app": app, "about": "failures", "host": host],
                    words:
                        "Reports, which anybody can forge, say that clients of \(app) cannot connect to \(host): see status."
                )
            case .certificates(let host):
                return Notice(
                    .report, of: server, ["app": app, "about": "certificates", "host": host],
                    words:
                        "Reports, which anybody can forge, say that \(host) of \(app) shows what the watcher never saw: see status."
                )
            case .canary(let change):
                return Notice(
                    .report, of: server, ["app": app, "about": "canary", "change": "\(change)"],
                    words:
                        "Reports, which anybody can forge, hold the canary of \(app), so its change waits: see status.")
            }
        }
        return Array(notices.sorted { "\($0.id)" < "\($1.id)" }.prefix(Self.maximumReported))
    }
}
