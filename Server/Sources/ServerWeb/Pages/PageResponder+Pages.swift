import HostMonitoring
import PinChanges
import PinPublication
import ServerApprovals
package import ServerFoundation
import ServerModel
import ServerStore

/// Reads the data of each page.
extension PageResponder {
    /// Maximum number of rows; the reports of a month have fewer unless they are forged.
    private static let maximumCountRows: Int64 = 20_000

    func page(
        _ route: PageRoute, _ query: PageQuery, _ viewer: Viewer
    ) async throws(ServerError) -> Made {
        let approvers = try await catalog.approvers()
        var frame = PageFrame(
            title: "Overview", viewer: viewer, notices: PageFrame.notices(approvers.head.approvers),
            made: try await catalog.now())
        switch route {
        case .app(let app), .host(let app, _), .change(let app, _), .reports(let app):
            guard viewer.sees(app), catalog.apps.contains(app) else { throw Self.missing }
            frame.above = (PageLink.app(app), "App \(app)")
        default: break
        }
        switch route {
        case .app(let app):
            frame.above = nil
            frame.title = "\(app)"
            let forms: [String: PageValue] = [
                "addHost": .optional(PageLink.form(.host(app), for: viewer)),
                "addChange": .optional(PageLink.form(.change(app), for: viewer)),
            ]
            return Made(.app, frame, try await appPage(app, query, approvers).merging(forms) { own, _ in own })
        case .host(let app, let name):
            let (facts, host) = try await hostFacts(name, query, app)
            frame.title = "\(host.host.label) of \(app)"
            var content = HostPage(facts, host).content
            let mayAnnounce = FormRoute.next(app).isOpen(to: viewer)
            content["addNext"] = .optional(mayAnnounce ? PageLink.next(host.host, of: app) : nil)
            return Made(.host, frame, content)
        case .form(let route):
            let entries = try await FormEntries(
                route, query, timing: timing(of: route), now: try await catalog.now())
            return try await formPage(route, entries, nil, frame, viewer)
        case .change(let app, let id):
            frame.title = "Change of \(app)"
            // The script has a purpose only if an approver uses a passkey.
            frame.needsScript = approvers.head.approvers.passkeys != nil
            return Made(.change, frame, try await changePage(id, app, approvers, viewer))
        case .reports(let app):
            frame.title = "Reports of \(app)"
            return Made(.reports, frame, try await reportsPage(app, query))
        case .audit:
            guard viewer.seesEverything else { throw Self.missing }
            frame.title = "Audit"
            frame.place = PageLink.audit
            return Made(.audit, frame, try await auditPage(query))
        case .people:
            frame.title = "People"
            frame.place = PageLink.people
            // The first statement that names passkeys is also signed by them.
            let registered = try await catalog.passkeys().contains { $0.purpose == .approval }
            let hasPasskeys = registered || approvers.head.approvers.passkeys != nil
            frame.needsScript = hasPasskeys
            let more: [String: PageValue] = ["csrf": .text(viewer.csrfToken), "hasPasskeys": .flag(hasPasskeys)]
            let content = approvers.head.approvers.content(of: nil, namingApps: viewer.seesEverything)
            return Made(.people, frame, content.merging(more) { own, _ in own })
        case .overview, .signIn, .invitation, .style, .script:
            frame.place = PageLink.overview
            var content = try await overviewPage(query, viewer).content
            content["addApp"] = .optional(PageLink.form(.app, for: viewer))
            return Made(.overview, frame, content)
        }
    }

    package static var missing: ServerError {
        ServerError(.notFound, of: "page", expected: "a page that you may see", found: "another")
    }

    /// Reads apps for the next overview if one was requested recently. The overview reports unreadable apps.
    package func lookFurther(at now: ContinuousClock.Instant = .now) async {
        guard summaries.isWanted(at: now) else { return }
        _ = try? await summaries.found(catalog.apps, first: [], from: publisher)
    }

    /// The overview of all apps that the viewer may see.
    func overviewPage(_ query: PageQuery, _ viewer: Viewer) async throws(ServerError) -> OverviewPage {
        summaries.want()
        let apps = catalog.apps.filter(viewer.sees)
        let start = try query.value("after") { AppName(bytes: $0) }
        let behind = apps.drop { app in
            start.map { !$0.description.utf8.lexicographicallyPrecedes(app.description.utf8) } ?? false
        }
        let shown = behind.prefix(OverviewPage.maximumAppCount)
        let found = try await summaries.found(apps, first: shown, from: publisher)
        return OverviewPage(
            found, of: apps.count, showing: shown, rest: behind.count > shown.count ? shown.last : nil,
            warning: catalog.engine.reserve?.warning, at: try await catalog.now())
    }

    private func appPage(
        _ app: AppName, _ query: PageQuery, _ approvers: ApproverChain
    ) async throws(ServerError) -> [String: PageValue] {
        let place = try query.value("after") { AppFacts.Place(label: $0) }
        let start: ClosedRange<Int64> = 0...1_000_000
        let parts = try await AppParts(
            of: app, changesFrom: Int(try query.number("changes", in: start) ?? 0),
            documentsFrom: Int(try query.number("documents", in: start) ?? 0), approvers: approvers, in: catalog)
        let facts = try await AppFacts(of: app, .some(after: place ?? .beginning), in: catalog)
        return AppPage(
            facts: facts, parts: parts, approvers: approvers.head.approvers,
            alerts: try await publisher.currentAlerts(of: app, at: facts.now)
        ).content
    }

    /// The facts of a host. Its name is in the path, or in the query if a path cannot contain it.
    private func hostFacts(
        _ name: [UInt8], _ query: PageQuery, _ app: AppName
    ) async throws(ServerError) -> (AppFacts, AppSnapshot.Host) {
        let name = query.bytes("name") ?? name
        let port = try query.number("port", in: 1...65_535) ?? 443
        guard ContentHost.isName(name) else { throw Self.missing }
        let place = AppFacts.Place(name: String(decoding: name, as: UTF8.self), port: port)
        let facts = try await AppFacts(of: app, .one(place), in: catalog)
        guard let host = facts.hosts.first else { throw Self.missing }
        return (facts, host)
    }

    private func changePage(
        _ id: RandomID, _ app: AppName, _ approvers: ApproverChain, _ viewer: Viewer
    ) async throws(ServerError) -> [String: PageValue] {
        let change = try await catalog.standing(of: id)
        guard change.app == app else { throw Self.missing }
        let now = try await catalog.now()
        let state = change.state(approvers, generation: catalog.ledger.generation(of: app), at: now)
        let isOpen = state == .proposed || state == .approved
        return ChangePage(
            change: change, state: state, chain: approvers,
            facts: try await changes.facts(about: change, isOpen: isOpen, to: viewer, from: publisher),
            others: try await publisher.otherOpenChanges(than: id),
            staleness: try await catalog.app(app).settings.staleness, csrfToken: viewer.csrfToken, now: now
        ).content
    }

    private func reportsPage(_ app: AppName, _ query: PageQuery) async throws(ServerError) -> [String: PageValue] {
        let days = try query.number("days", in: 1...30) ?? FailureHistory.Span.week.rawValue
        guard let span = FailureHistory.Span(rawValue: days) else { throw Self.missing }
        let now = try await catalog.now()
        let since = now - days * 86_400
        let counts = try await catalog.reportCounts(
            of: app, sinceHour: since / 3_600, limit: Self.maximumCountRows)
        return ReportsPage(
            app: app, standing: try await catalog.reportStanding(of: app),
            history: FailureHistory(counts, over: span, at: now),
            samples: try await catalog.reportSamples(of: app, since: since, limit: ReportsPage.maximumSampleCount),
            published: PublishedHosts(try await publishedHosts(of: app)), now: now
        ).content
    }

    private func publishedHosts(of app: AppName) async throws(ServerError) -> [ContentHost] {
        try await catalog.look { session, ledger throws(ServerError) in
            guard let publication = ledger.publication(of: app) else { return [] }
            return try Catalog.content(of: publication, app: app, in: session).hosts
        }
    }

    private func auditPage(_ query: PageQuery) async throws(ServerError) -> [String: PageValue] {
        let filter = AuditFilter(
            event: try query.value("event") { AuditEntry.Event(bytes: $0) },
            app: try query.value("app") { AppName(bytes: $0) },
            before: try query.number("before", in: 0...CanonicalJSON.maximumInteger))
        return try await catalog.auditPage(filter, apps: catalog.apps).content
    }
}
