/// Reads what each page shows.
extension PageResponder {
    /// More changes than anybody looks through on one page.
    private static let greatestChangeCount = 50
    /// More rows than the reports of a month have, unless somebody forges them.
    private static let greatestCountRows: Int64 = 20_000

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
            return Made(.app, frame, try await appPage(app, approvers))
        case .host(let app, let name):
            let facts = try await AppFacts(of: app, in: catalog)
            let host = try Self.host(name, query, facts)
            frame.title = "\(host.host.label) of \(app)"
            return Made(.host, frame, HostPage(facts, host).content)
        case .change(let app, let id):
            frame.title = "Change of \(app)"
            // Only with passkeys among the approvers there is something to do for a script.
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
            let hasPasskeys = approvers.head.approvers.passkeys != nil
            frame.needsScript = hasPasskeys
            let more: [String: PageValue] = ["csrf": .text(viewer.csrfToken), "hasPasskeys": .flag(hasPasskeys)]
            return Made(.people, frame, approvers.head.approvers.content.merging(more) { own, _ in own })
        case .overview, .signIn, .invitation, .style, .script:
            frame.place = PageLink.overview
            var apps: [AppFacts] = []
            for app in catalog.apps where viewer.sees(app) { apps.append(try await AppFacts(of: app, in: catalog)) }
            return Made(.overview, frame, OverviewPage(apps).content)
        }
    }

    private static var missing: ServerError {
        ServerError(.notFound, of: "page", expected: "a page that you may see", found: "another")
    }

    private func appPage(_ app: AppName, _ approvers: ApproverChain) async throws(ServerError) -> [String: PageValue] {
        let facts = try await AppFacts(of: app, in: catalog)
        var keys: [Catalog.Key] = []
        for purpose in SealedKey.Purpose.allCases {
            if let key = try await catalog.key(purpose, of: app) { keys.append(key) }
        }
        return AppPage(
            facts: facts,
            changes: try await catalog.changes(of: app).prefix(Self.greatestChangeCount).map { change in
                (change, change.state(approvers, generation: facts.scene.generation, at: facts.now))
            },
            documents: try await catalog.newestDocuments { $0 == app }, keys: keys,
            approvers: approvers.head.approvers
        ).content
    }

    /// The host of an address: its name is in the path, or in the query if no path can have it.
    private static func host(
        _ name: [UInt8], _ query: PageQuery, _ facts: AppFacts
    ) throws(ServerError) -> AppScene.Host {
        let name = query.octets("name") ?? name
        let port = try query.number("port", in: 1...65_535) ?? 443
        let host = facts.scene.hosts.first { $0.host.port == port && $0.host.name.utf8.elementsEqual(name) }
        guard let host else { throw missing }
        return host
    }

    private func changePage(
        _ id: RandomID, _ app: AppName, _ approvers: ApproverChain, _ viewer: Viewer
    ) async throws(ServerError) -> [String: PageValue] {
        let change = try await catalog.change(id)
        guard change.content.app == app else { throw Self.missing }
        let now = try await catalog.now()
        let state = change.state(approvers, generation: catalog.ledger.generation(of: app), at: now)
        return ChangePage(
            change: change, state: state, published: try await publisher.published(app),
            unannounced: try await catalog.unannounced(in: change.content), chain: approvers,
            staleness: try await catalog.app(app).settings.staleness, csrfToken: viewer.csrfToken, now: now
        ).content
    }

    private func reportsPage(_ app: AppName, _ query: PageQuery) async throws(ServerError) -> [String: PageValue] {
        let days = try query.number("days", in: 1...30) ?? FailureHistory.Span.week.rawValue
        guard let span = FailureHistory.Span(rawValue: days) else { throw Self.missing }
        let now = try await catalog.now()
        let since = now - days * 86_400
        let counts = try await catalog.reportCounts(
            of: app, sinceHour: since / 3_600, limit: Self.greatestCountRows)
        return ReportsPage(
            app: app, standing: try await catalog.reportStanding(of: app),
            history: FailureHistory(counts, over: span, at: now),
            samples: try await catalog.reportSamples(of: app, since: since, limit: ReportsPage.greatestSampleCount),
            now: now
        ).content
    }

    private func auditPage(_ query: PageQuery) async throws(ServerError) -> [String: PageValue] {
        let filter = AuditFilter(
            event: try query.value("event") { AuditEntry.Event(octets: $0) },
            app: try query.value("app") { AppName(octets: $0) },
            before: try query.number("before", in: 0...CanonicalJSON.greatestInteger))
        return try await catalog.auditPage(filter, apps: catalog.apps).content
    }
}
