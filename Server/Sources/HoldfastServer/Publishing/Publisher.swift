public import Holdfast
public import HoldfastPublishing

/// Takes changes from a proposal to the documents that clients get.
///
/// Private keys are opened only for a ``SigningPermit``, which only approvals give, verified right before.
public struct Publisher: Sendable {
    /// What a proposal says about itself.
    public struct Proposal: Sendable {
        /// The id of the change.
        public let change: RandomID
        /// What it does, in words.
        public let difference: ContentDifference
        /// How clients fare with it.
        public let outlook: PublicationOutlook
        /// What the gates say now.
        public let report: GateReport
    }

    /// What publishing led to.
    public struct Outcome: Sendable, Hashable {
        /// How far the change is.
        public enum Stage: Sendable, Hashable {
            /// The canary has it; everybody gets it when it is published again from a time on, in seconds since 1970.
            case canary(until: Int64)
            /// Everybody gets it.
            case published(generation: Int64)
        }

        /// How far the change is, whatever the problems are.
        public let stage: Stage
        /// What did not work afterwards, in words, such as writing to the folder. It is tried again in the next round.
        public let problems: [String]

        init(_ stage: Stage, problems: [String] = []) {
            self.stage = stage
            self.problems = problems
        }

        /// The canary has it, and nothing went wrong.
        public static func canary(until time: Int64) -> Outcome { Outcome(.canary(until: time)) }
        /// Everybody gets it, and nothing went wrong.
        public static func published(generation: Int64) -> Outcome { Outcome(.published(generation: generation)) }
    }

    /// What is published.
    public let catalog: Catalog
    /// Where documents are written to.
    public let folder: PublicFolder
    /// What clients are answered from.
    public let live: LiveSnapshot
    /// What opens the private keys; nil if nothing can be signed.
    let secret: SigningSecret?
    /// What this machine is called among those that upload.
    let name: String
    /// How documents are read back from public addresses.
    let reader: any RemoteDataProvider
    /// Where this process answers apps.
    let listener: SelfCheckListener
    /// The apps for which the rounds of this process have nothing to do.
    let settled = SettledApps()
    /// What the folder of this machine is known to have.
    let filled = FilledFolder()
    /// How apps stood when they were judged last.
    let standings = KnownStandings()

    /// Makes a publisher.
    /// - Parameters:
    ///   - catalog: what is published.
    ///   - folder: where documents are written to.
    ///   - secret: what opens the private keys; nil to sign nothing.
    ///   - live: what clients are answered from.
    ///   - name: what this machine is called among those that upload to places.
    ///   - reader: how documents are read back from public addresses.
    ///   - listener: where this process answers apps.
    public init(
        _ catalog: Catalog, folder: PublicFolder, secret: SigningSecret?, live: LiveSnapshot = LiveSnapshot(),
        name: String = SystemText.hostName,
        reader: any RemoteDataProvider = PublicDataProvider(),
        listener: SelfCheckListener = SelfCheckListener()
    ) {
        self.catalog = catalog
        self.folder = folder
        self.secret = secret
        self.live = live
        self.name = name
        self.reader = reader
        self.listener = listener
    }

    /// Proposes a content.
    /// - Parameters:
    ///   - content: what is to be published.
    ///   - forced: the gates that it passes even if it fails them. `canary` is what an emergency names.
    ///   - proposer: the digest of the proposer's key; nil for nobody who approves.
    ///   - reason: why.
    ///   - actor: who does it, for the audit.
    ///   - generator: makes the id.
    /// - Throws: ``ServerError``.
    public func propose(
        _ content: Content, forcing forced: Set<Gate> = [], proposer: Digest?, reason: String, by actor: String,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> Proposal {
        if let gate = forced.first(where: { !$0.canBeForced }) {
            throw ServerError(
                .invalidValue, of: "forced gates", expected: "gates that can be forced", found: gate.rawValue,
                remedy: "Correct the change; this gate has no exception.")
        }
        let scene = try await catalog.scene(of: content.app, for: content)
        let outlook = try await OutlookMaker(scene: scene.planning(content)).outlook(
            of: content, reachingEverybodyIn: scene.app.settings.canary(forcing: forced))
        let id = try await catalog.propose(
            content, outlook: Array(outlook.json), forcing: forced, proposer: proposer, reason: reason,
            by: actor, base: scene.generation, using: &generator)
        let report = await GateRunner(scene: scene, change: try await catalog.change(id)).report().report
        return Proposal(
            change: id, difference: ContentDifference(from: scene.published, to: content), outlook: outlook,
            report: report)
    }

    /// Proposes what was published before, as a new change: everything that a change needs, it needs as well.
    /// - Parameters:
    ///   - app: the app.
    ///   - generation: the generation to return to.
    ///   - end: the last second at which documents may be signed; nil for that of the old content.
    ///   - forced: the gates that it passes even if it fails them; `canary` for an emergency.
    ///   - proposer: the digest of the proposer's key.
    ///   - reason: why.
    ///   - actor: who does it, for the audit.
    ///   - generator: makes the id.
    /// - Throws: ``ServerError`` `notFound` for a generation that never was.
    public func proposeReverting(
        _ app: AppName, to generation: Int64, until end: Int64? = nil, forcing forced: Set<Gate> = [],
        proposer: Digest?, reason: String, by actor: String, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> Proposal {
        let old = try await catalog.look { session, ledger throws(ServerError) in
            guard let publication = ledger.apps[app]?.first(where: { $0.generation == generation }) else {
                throw ServerError(
                    .notFound, of: "generation", expected: "one that \(app) had", found: "\(generation)",
                    remedy:
                        "Name one from 1 to the generation that `holdfast-server app list --data DIR` shows; before "
                        + "the first publication there is none.")
            }
            return try Catalog.content(of: publication, app, session)
        }
        let content = try Content(
            app: app, hosts: old.hosts, formats: old.formats, domains: old.domains, end: end ?? old.end)
        return try await propose(
            content, forcing: forced, proposer: proposer, reason: reason, by: actor, using: &generator)
    }

    /// Proposes once more what another change proposes, for people to look at afresh: one whose time is over, or whose
    /// outlook was made before anybody had seen the hosts.
    /// - Parameters:
    ///   - id: the other change.
    ///   - end: the last second at which documents may be signed; nil for that of the other change.
    ///   - forced: the gates that it passes even if it fails them.
    ///   - proposer: the digest of the proposer's key; nil for nobody who approves.
    ///   - reason: why.
    ///   - actor: who does it, for the audit.
    ///   - generator: makes the id.
    /// - Throws: ``ServerError`` `notFound`.
    public func proposeAgain(
        _ id: RandomID, until end: Int64? = nil, forcing forced: Set<Gate> = [], proposer: Digest?, reason: String,
        by actor: String, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> Proposal {
        let old = try await catalog.change(id).content
        let content = try Content(
            app: old.app, hosts: old.hosts, formats: old.formats, domains: old.domains, end: end ?? old.end)
        return try await propose(
            content, forcing: forced, proposer: proposer, reason: reason, by: actor, using: &generator)
    }

    /// Asks the gates as publishing would, and signs nothing.
    /// - Throws: ``ServerError``.
    public func rehearse(_ id: RandomID) async throws(ServerError) -> GateReport {
        let change = try await catalog.change(id)
        let scene = try await catalog.scene(of: change.content.app, for: change.content)
        return await GateRunner(scene: scene, change: change).report().report
    }
}

extension Publisher {
    /// What is published for an app; nil before the first publication.
    /// - Throws: ``ServerError``.
    public func published(_ app: AppName) async throws(ServerError) -> Content? {
        try await catalog.scene(of: app).published
    }
}
