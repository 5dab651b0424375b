import HoldfastPublishing
import HostMonitoring
import PinChanges
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// Finds the current notices. A cause that has ended gives none, so no outdated notice is sent.
package struct NoticeFinder: Sendable {
    private let server: RandomID
    /// The time for which clients of an app use a document without a refresh, with the digest of its settings.
    private var stalenesses: [AppName: (settings: Digest, seconds: Int64)] = [:]
    /// The approvers, and the digest of their statement.
    private var approvers: (statement: Digest, members: [ApproverSet.Member])?
    /// The documents, generations and head of the audit after the last round.
    private var round: (documents: [Ledger.Name: Ledger.Version], generations: [AppName: Int64], head: AuditHead)?

    /// Whether the disk reserve is missing.
    private var lacksReserve = false
    /// The status of apps.
    private var standings: [Publisher.Standing] = []
    /// The alerts about client reports, with the time at which each was last present.
    private var reported: [ReportAlarm: Int64] = [:]
    /// The time at which they were read.
    private var reportsRead: Int64?

    /// The number of seconds between reads of reports.
    private static let reportPause: Int64 = 60
    /// The number of seconds for which a warning about reports stays current. Alternating forged failures and successes
    /// thus cause only one notice.
    private static let reportSpan: Int64 = 86_400
    /// Maximum number of notices about reports. Since reports can be forged, they must not displace other notices.
    private static let maximumReported = 32

    init(_ server: RandomID) { self.server = server }

    /// Reads the settings that changed.
    /// - Throws: ``ServerError`` of the database; then the previous values stay in use.
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

    /// Reads the status of apps, the same as on every surface.
    /// - Parameter now: seconds since 1970; nil if the clock is not trusted, and then nothing is evaluated.
    mutating func readStandings(from publisher: Publisher, at now: Int64?) async {
        lacksReserve = publisher.catalog.engine.reserve?.isMissing ?? false
        standings = if let now { await publisher.currentStandings(at: now) } else { [] }
    }

    /// Reads the approvers if they changed.
    /// - Throws: ``ServerError`` of the database; then the previous approvers stay in use.
    mutating func readApprovers(in catalog: Catalog) async throws(ServerError) {
        guard let mark = catalog.ledger.approvers, mark.digest != approvers?.statement else { return }
        let head = try await catalog.approvers().head
        approvers = (head.digest, head.approvers.members)
    }

    /// Reads the alerts about client reports, once per minute.
    /// - Throws: ``ServerError`` of the database; then the previous alerts stay in use.
    mutating func readReports(in catalog: Catalog, at now: Int64?) async throws(ServerError) {
        guard let now, reportsRead.map({ !(0..<Self.reportPause).contains(now - $0) }) ?? true else { return }
        for alarm in try await catalog.reportAlarms() { reported[alarm] = now }
        reported = reported.filter { now - $0.value < Self.reportSpan }
        reportsRead = now
    }

    /// Finds the current notices, most urgent first.
    /// - Parameters:
    ///   - ledger: the state of the audit.
    ///   - snapshot: the published state.
    ///   - now: seconds since 1970; nil if the clock is not trusted, and then ends are unknown.
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
            words: "The disk of the server is full or almost full, and its reserve is used up. Free some space.")
    }

    /// One notice per approver of the app, so that a receiver can call each of them.
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

    /// The refusals may contain text from certificates, so they are only in the audit and in status.
    private func canaries(_ ledger: Ledger) -> [Notice] {
        ledger.canaries.compactMap { app, canary in
            guard let since = canary.probes.heldSince else { return nil }
            let text = ClockGuard.text(since)
            return Notice(
                .canary, of: server, ["app": "\(app)", "change": "\(canary.change)", "since": text],
                words: "Clients refuse the documents of the canary of \(app), so its change waits: see status.")
        }.sorted { "\($0.id)" < "\($1.id)" }
    }

    private func alarms(_ ledger: Ledger) -> [Notice] {
        ledger.alarms.map { alarm in
            let (host, digest) = Self.parts(alarm)
            var facts = ["app": "\(alarm.app)", "host": host, "key": digest]
            // The notice of a first alert has no time, so that it keeps its id and is not sent twice.
            if ledger.repeatedAlarms.contains(alarm), let time = ledger.alarmedAt[alarm] {
                facts["raised"] = ClockGuard.text(time)
            }
            let isAboutMany = digest.utf8.elementsEqual("\(Catalog.tooManyKeys)".utf8)
            if isAboutMany { facts["key"] = nil }
            return Notice(
                .alarm, of: server, facts,
                words: isAboutMany
                    ? "\(host) of \(alarm.app) presents more new keys than get an alert each."
                    : "\(host) of \(alarm.app) presented a key that was not announced: see status.")
        }.sorted { "\($0.id)" < "\($1.id)" }
    }

    private func reminders(_ ledger: Ledger) -> [Notice] {
        ledger.reminders.map { reminder in
            let (host, digest) = Self.parts(reminder)
            return Notice(
                .reminder, of: server, ["app": "\(reminder.app)", "host": host, "subject": digest],
                words: "Publish a change for \(host) of \(reminder.app) soon: see status.")
        }.sorted { "\($0.id)" < "\($1.id)" }
    }

    /// The name of an alert or a reminder consists of the host and a digest.
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

    /// One notice per kind of alert of an app. The text of alerts may come from a host, so it is only in status. A
    /// canary has a separate notice.
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
        case .lockedOut: "Clients of \(app) are or will be locked out, or this could not be evaluated"
        case .expired: "A host of \(app) presents an expired certificate"
        case .held: "Nothing is signed for \(app)"
        case .canary: "Clients refuse the documents of the canary of \(app)"
        case .publish: "\(app) needs a publication soon or immediately"
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

    /// These notices contain no data from clients: the figures and the certificates are only in status.
    private func reports() -> [Notice] {
        let notices: [Notice] = reported.keys.map { alarm in
            let app = "\(alarm.app)"
            switch alarm.subject {
            case .failures(let host):
                return Notice(
                    .report, of: server, ["app": app, "about": "failures", "host": host],
                    words:
                        "Clients of \(app) report that they cannot connect to \(host): see status. "
                        + "Reports can be forged.")
            case .certificates(let host):
                return Notice(
                    .report, of: server, ["app": app, "about": "certificates", "host": host],
                    words:
                        "Clients report certificates at \(host) of \(app) that the watcher never saw: see status. "
                        + "Reports can be forged.")
            case .canary(let change):
                return Notice(
                    .report, of: server, ["app": app, "about": "canary", "change": "\(change)"],
                    words:
                        "Client reports hold the canary of \(app), so its change waits: see status. "
                        + "Reports can be forged.")
            }
        }
        return Array(notices.sorted { "\($0.id)" < "\($1.id)" }.prefix(Self.maximumReported))
    }
}
