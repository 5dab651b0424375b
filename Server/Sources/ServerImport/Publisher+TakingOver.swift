import HoldfastPublishing
import HoldfastSigning
import PinChanges
package import PinPublication
package import ServerApprovals
package import ServerFoundation
package import ServerModel
import ServerStore

extension Publisher {
    /// The decisions about a takeover.
    package struct TakeoverRules: Sendable {
        /// The settings of all its apps; `app settings` changes them separately afterwards.
        package var settings: AppSettings
        /// The number of seconds during which documents may be signed.
        package var lifetime: Int64
        /// The gates that the changes force.
        package var forced: Set<Gate>
        /// The digest of the proposer's key; nil if the proposer is not an approver.
        package var proposer: Digest?
        /// The reason.
        package var reason: String
        /// The time since which the other server has published the same, in seconds since 1970; nil if unknown.
        package var since: Int64?
        /// The person who does it, for the audit.
        package var actor: String

        /// Makes rules: 180 days by default, and no gate is forced.
        package init(
            settings: AppSettings, lifetime: Int64 = 180 * 86_400, forced: Set<Gate> = [], proposer: Digest?,
            reason: String, since: Int64? = nil, by actor: String
        ) {
            self.settings = settings
            self.lifetime = lifetime
            self.forced = forced
            self.proposer = proposer
            self.reason = reason
            self.since = since
            self.actor = actor
        }
    }

    /// An app that is being taken over.
    private struct Newcomer: Sendable {
        let app: Takeover.App
        let keys: [Catalog.Key]
        let change: Change
        let proposal: Proposal
    }

    /// Takes over all apps of another server, with their keys and hosts, and proposes a first change for each, in one
    /// transaction. No client gets any of it before people have approved.
    /// - Parameters:
    ///   - takeover: the data of the other server.
    ///   - rules: the decisions about it.
    ///   - isRehearsal: whether to do everything except writing.
    ///   - generator: generates the ids.
    /// - Returns: the proposal for each app.
    /// - Throws: ``ServerError`` `constraint` for an app that exists; `secretFile` without the secret; `notPublishable`
    ///   and `invalidValue` for data that this server cannot publish. Nothing has changed then.
    package func takeOver(
        _ takeover: Takeover, _ rules: TakeoverRules, isRehearsal: Bool = false,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> [Proposal] {
        let now = try await catalog.look { [catalog] session, ledger throws(ServerError) in
            let now = try session.now()
            try catalog.requireTime(now, after: ledger.latestTime)
            for app in takeover.apps where ledger.apps[app.name] != nil {
                throw ServerError(
                    .constraint, of: "app \(app.name)", expected: "a new app", found: "one that exists",
                    remedy:
                        "Nothing was taken over. If the first change has ended, propose it with change propose --again."
                )
            }
            return now
        }
        var newcomers: [Newcomer] = []
        for app in takeover.apps {
            newcomers.append(try await newcomer(app, rules, at: now, using: &generator))
        }
        guard !isRehearsal else { return newcomers.map(\.proposal) }
        try await catalog.transact { [newcomers, catalog] step throws(ServerError) in
            for newcomer in newcomers {
                try step.take(
                    newcomer.app, newcomer.keys, newcomer.change, from: takeover.source, rules, of: catalog.server)
            }
        }
        return newcomers.map(\.proposal)
    }

    private func newcomer(
        _ app: Takeover.App, _ rules: TakeoverRules, at now: Int64, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> Newcomer {
        guard let secret else { throw Self.noSecret }
        var (keys, sealed): ([Catalog.Key], SealedKeys) = ([], SealedKeys(app: app.name))
        for key in app.keys {
            let place = try SealedKey.Place(
                server: catalog.server, app: app.name, id: "\(RandomID(using: &generator))", purpose: key.purpose)
            let stored = Catalog.Key(
                sealed: try SealedKey(sealing: key.pem, at: place, with: secret), certificate: key.certificate,
                wasInPlainText: key.wasInPlainText)
            keys.append(stored)
            switch key.purpose {
            case .fingerprints: sealed.fingerprints = stored
            case .trustServer: sealed.trustServer = stored
            case .snapshot: sealed.snapshot = stored
            case .timestamp: sealed.timestamp = stored
            }
        }
        let content = try Content(
            app: app.name, hosts: app.hosts, formats: app.formats, domains: app.domains,
            end: now + rules.lifetime)
        let files = RepositoryFiles(of: app.name, RepositoryFiles.Base(), in: catalog)
        files.lay(taken: app.repository)
        let scene = AppSnapshot(
            app: Catalog.App(name: app.name, displayName: app.displayName, settings: rules.settings),
            hosts: app.dialed.map {
                AppSnapshot.Host($0, [], AnnouncedCertificates(chains: [], keys: []), [:], at: now)
            },
            publications: [],
            publicKeys: Dictionary(app.publicKeys.map { (Digest(of: $0), $0) }) { first, _ in first }, generation: 0,
            canary: nil, canaryRepository: nil, keys: sealed,
            repository: files, now: now)
        let outlook = try await OutlookMaker(scene: scene).outlook(
            of: content, reachingEverybodyIn: rules.settings.canary(forcing: rules.forced))
        let change = Change(
            id: RandomID(using: &generator), content: content, outlook: Array(outlook.json), baseGeneration: 0,
            forced: rules.forced, proposer: rules.proposer, reason: rules.reason, proposed: now, canaryBegan: nil,
            approvals: [], ended: nil)
        let report = await GateRunner(scene: scene, change: change).report().report
        return Newcomer(
            app: app, keys: keys, change: change,
            proposal: Proposal(
                change: change.id, difference: ContentDifference(from: nil, to: content), outlook: outlook,
                report: report))
    }
}

extension Catalog.Step {
    /// Writes an app of another server, and its first change.
    fileprivate mutating func take(
        _ app: Takeover.App, _ keys: [Catalog.Key], _ change: Change, from source: String,
        _ rules: Publisher.TakeoverRules, of server: RandomID
    ) throws(ServerError) {
        try addApp(app.name, displayName: app.displayName, settings: rules.settings, by: rules.actor)
        for host in app.dialed { try set(host, of: app.name, by: rules.actor) }
        for key in keys { try add(key, of: server, by: rules.actor) }
        if !app.repository.isEmpty {
            try Catalog.keep(RepositoryDraft(taken: app.repository), of: app.name, by: rules.actor, &self)
        }
        for key in app.publicKeys { try Catalog.store(key: key, session) }
        var facts = ["app": "\(app.name)", "from": source]
        if let since = rules.since { facts["since"] = "\(since)" }
        try record(.takenOver, by: rules.actor, facts)
        try propose(
            change.id, change.content, outlook: change.outlook, forcing: change.forced, proposer: change.proposer,
            reason: change.reason, by: rules.actor, base: 0)
    }
}
