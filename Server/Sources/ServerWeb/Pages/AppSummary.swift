import Foundation
import Holdfast
import HostMonitoring
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// An app on the overview: its status and the items that need action. Reading it takes a bounded number of rows,
/// however many hosts, changes and observations the app has.
struct AppSummary: Sendable, Hashable {
    let app: AppName
    /// The display name.
    let displayName: String
    /// The published generation; 0 before the first publication.
    let generation: Int64
    /// When it was published, in seconds since 1970.
    let published: Int64?
    /// The last second at which its documents may be signed.
    let end: Int64?
    let hostCount: Int64
    /// The earliest expiry of the certificates that its hosts present; nil if unknown, or if there are too many chains.
    let firstEnd: Int64?
    /// The number of changes that can still be published.
    let openCount: Int
    /// The items that need action, the first few of each kind.
    let needs: [OverviewNeed]

    /// Maximum number of items of one kind; the page of the app shows the others.
    static let maximumCount = 16
    /// Maximum number of chains to read for ``firstEnd``.
    private static let maximumChainCount: Int64 = 64

    /// The audit's facts about an app, collected in one pass for several apps.
    struct Told: Sendable {
        /// The unannounced keys and certificates that raised an alert, with the time of the alert.
        fileprivate(set) var alarms: [Ledger.Name: Int64] = [:]
        /// The changes that can still be published, oldest first.
        fileprivate(set) var open: [RandomID] = []

        /// Collects the facts for some apps.
        static func all(_ apps: Set<AppName>, _ ledger: Ledger, at now: Int64) -> [AppName: Told] {
            var told = Dictionary(uniqueKeysWithValues: apps.map { ($0, Told()) })
            for (name, time) in ledger.alarmedAt { told[name.app]?.alarms[name] = time }
            for (id, proposal) in ledger.openChanges(at: now) { told[proposal.app]?.open.append(id) }
            return told
        }
    }

    /// Reads an app.
    /// - Parameters:
    ///   - name: the app.
    ///   - told: the audit's facts about the app.
    ///   - chain: the approvers whose approvals are valid.
    ///   - alerts: the current alerts of the app, the same as on every surface.
    /// - Throws: ``ServerError``.
    init(
        of name: AppName, _ told: Told, approvers chain: ApproverChain, _ alerts: [Publisher.StandingAlert],
        in catalog: Catalog
    ) async throws(ServerError) {
        self = try await catalog.look { session, ledger throws(ServerError) in
            try AppSummary(Reading(name, told, chain, alerts, session, ledger))
        }
    }

    /// Represents an app that cannot be read. The operator must learn of it, and other apps are still shown.
    init(unreadable name: AppName, because error: ServerError) {
        app = name
        displayName = "\(name)"
        (generation, published, end, hostCount, firstEnd, openCount) = (0, nil, nil, 0, nil, 0)
        needs = [
            OverviewNeed(
                kind: .unreadable, title: "\(name)", address: PageLink.app(name),
                words: "The stored data of this app cannot be read: \(error.code.rawValue). "
                    + "Run holdfast-server doctor.")
        ]
    }

    private init(_ reading: Reading) throws(ServerError) {
        let (ledger, app) = (reading.ledger, reading.app)
        self.app = app.name
        displayName = app.displayName
        generation = ledger.generation(of: app.name)
        published = ledger.publication(of: app.name)?.time
        end = reading.published?.end
        hostCount = try Catalog.hostCount(of: app.name, reading.session)
        let chains = try Catalog.shownChains(
            of: app.name, since: reading.now - Vantage.lifetime, limit: Self.maximumChainCount + 1, reading.session)
        firstEnd = chains.count > Int(Self.maximumChainCount) ? nil : chains.compactMap(\.end).min()
        openCount = reading.told.open.count
        needs = try reading.needs()
    }

    /// The state that one transaction reads.
    private struct Reading {
        let app: Catalog.App
        let told: Told
        let chain: ApproverChain
        let alerts: [Publisher.StandingAlert]
        let session: any StorageSession
        let ledger: Ledger
        let now: Int64
        let published: Content?
        private let pinned: PublishedHosts

        init(
            _ name: AppName, _ told: Told, _ chain: ApproverChain, _ alerts: [Publisher.StandingAlert],
            _ session: any StorageSession, _ ledger: Ledger
        ) throws(ServerError) {
            (self.told, self.chain, self.alerts) = (told, chain, alerts)
            (self.session, self.ledger) = (session, ledger)
            app = try Catalog.app(name, session, ledger)
            now = max(try session.now(), ledger.latestTime)
            published = try ledger.publication(of: name).map { publication throws(ServerError) in
                try Catalog.content(of: publication, app: name, in: session)
            }
            pinned = PublishedHosts(published?.hosts ?? [])
        }

        func needs() throws(ServerError) -> [OverviewNeed] {
            try changes() + canary() + standing() + backups() + alarms() + unseen() + reports()
        }

        private func changes() throws(ServerError) -> [OverviewNeed] {
            var needs: [OverviewNeed] = []
            // List emergencies first, so that other changes cannot push them off the list.
            let urgent = told.open.filter { ledger.proposals[$0]?.isEmergency == true }
            let usual = told.open.filter { ledger.proposals[$0]?.isEmergency != true }
            for id in (urgent + usual).prefix(AppSummary.maximumCount) {
                let change = try Catalog.standing(of: id, session, ledger)
                let state = change.state(chain, generation: ledger.generation(of: app.name), at: now)
                guard state == .proposed || state == .approved else { continue }
                let until = PageText.timeAndDistance(change.end, from: now)
                let waits = state == .approved ? "is approved, and waits to be published" : "waits for approvals"
                needs.append(
                    OverviewNeed(
                        kind: change.isEmergency ? .emergency : .change, title: change.reason,
                        address: PageLink.change(id, of: app.name),
                        words: "A change of \(app.name) \(waits) until \(until)."
                            + (change.isEmergency ? " It skips the canary." : "")))
            }
            return needs
        }

        private func canary() -> [OverviewNeed] {
            guard let canary = ledger.canaries[app.name], let since = canary.probes.heldSince else { return [] }
            return [
                OverviewNeed(
                    kind: .canary, title: "\(app.name)", address: PageLink.change(canary.change, of: app.name),
                    words: "Clients refuse what the canary has since \(PageText.timeAndDistance(since, from: now)): "
                        + canary.probes.refusals.joined(separator: "; "))
            ]
        }

        /// The alerts of the command `status`, except those of the canary, which ``canary()`` lists.
        private func standing() -> [OverviewNeed] {
            let needs = alerts.filter { $0.kind != .canary }.map { alert in
                OverviewNeed(
                    kind: OverviewNeed.Kind(alert.kind), title: "\(app.name)", address: PageLink.app(app.name),
                    words: "\(alert.words).")
            }
            return Array(needs.prefix(AppSummary.maximumCount))
        }

        private func backups() -> [OverviewNeed] {
            guard let published else { return [] }
            var needs: [OverviewNeed] = []
            let missing = published.missingBackups(at: now)
            needs += missing.prefix(AppSummary.maximumCount).map { missing in
                OverviewNeed(
                    kind: .backup, title: "\(app.name)", address: PageLink.app(app.name), words: "\(missing.words).")
            }
            if missing.count > AppSummary.maximumCount {
                needs.append(more(.backup, missing.count - AppSummary.maximumCount, "host", "without a backup"))
            }
            return needs
        }

        private func more(_ kind: OverviewNeed.Kind, _ count: Int, _ thing: String, _ which: String) -> OverviewNeed {
            OverviewNeed(
                kind: kind, title: "\(app.name)", address: PageLink.app(app.name),
                words: "And \(QuantityText.count(Int64(count), "more \(thing)")) \(which).")
        }

        // MARK: Hosts

        private func title(_ host: CatalogHost) -> String { "\(host.label) of \(app.name)" }

        private func alarms() throws(ServerError) -> [OverviewNeed] {
            var needs: [OverviewNeed] = []
            let hosts = HostDigests.all(told.alarms).compactMap(waiting)
            for said in hosts.prefix(HostDigests.maximumCount) {
                guard let host = try? CatalogHost(name: said.place.name, port: said.place.port) else { continue }
                let open = try Catalog.openAlarms(
                    said, on: host, of: app.name, pins: pinned.pins(of: host), at: now, session, ledger)
                needs += open.map { digest in
                    OverviewNeed(
                        kind: .alarm, title: title(host), address: PageLink.host(host, of: app.name),
                        words: digest == Catalog.tooManyKeys
                            ? "It presents more new keys than get an alert each."
                            : "The host presented a key that was not announced: \(digest). "
                                + "Find out whose key it is, and announce it if it is yours.")
                }
            }
            let count = needs.count - AppSummary.maximumCount
            if count > 0 { needs[AppSummary.maximumCount...] = [more(.alarm, count, "key", "that were not announced")] }
            if hosts.count > HostDigests.maximumCount {
                let others = hosts.dropFirst(HostDigests.maximumCount).count { said in
                    said.digests.contains { !ledger.mayBeQuiet(since: $0.time, of: app.name, at: now) }
                }
                if others > 0 { needs.append(more(.alarm, others, "host", "with alarms: the audit has them")) }
            }
            return needs
        }

        /// Removes the digests that are published by now; nil if none is left.
        private func waiting(_ said: HostDigests) -> HostDigests? {
            guard let host = try? CatalogHost(name: said.place.name, port: said.place.port),
                let published = pinned.pins(of: host)?.digests
            else { return said }
            let open = said.digests.filter { !published.contains($0.digest) }
            return open.isEmpty ? nil : HostDigests(place: said.place, digests: open)
        }

        private func unseen() throws(ServerError) -> [OverviewNeed] {
            let since = now - Vantage.lifetime
            let rows = try Catalog.unseenHosts(
                of: app.name, since: since, limit: Int64(AppSummary.maximumCount) + 1, session, ledger)
            var needs: [OverviewNeed] = []
            for (id, host) in rows.prefix(AppSummary.maximumCount) {
                let last = try Catalog.latestObservations(id, limit: 1, session).first
                let words =
                    switch last {
                    case nil: "It was never probed."
                    case let last? where last.lastSeen < since:
                        "It was last probed \(PageText.distance(to: last.lastSeen, from: now))."
                    case let last?: "No address of it can be read: \(last.failure ?? "")"
                    }
                needs.append(
                    OverviewNeed(
                        kind: .unseen, title: title(host), address: PageLink.host(host, of: app.name), words: words))
            }
            guard rows.count > AppSummary.maximumCount else { return needs }
            return needs + [
                OverviewNeed(
                    kind: .unseen, title: "\(app.name)", address: PageLink.app(app.name),
                    words: "More of its hosts were not seen within the hour.")
            ]
        }

        // MARK: Reports

        /// Unreadable client reports must not block a page.
        private func reports() -> [OverviewNeed] {
            guard let settings = try? Catalog.reportSettings(of: app.name, session, ledger), settings.isEnabled,
                let standing = try? Catalog.reportStanding(of: app.name, session, ledger)
            else { return [] }
            return standing.warnings.prefix(AppSummary.maximumCount).map { warning in
                OverviewNeed(
                    kind: .failures, title: "\(app.name)", address: PageLink.reports(app.name),
                    words: "As far as reports can be believed: \(warning)")
            }
        }
    }
}
