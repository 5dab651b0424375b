package import Holdfast
package import HoldfastPublishing
import HostMonitoring
package import PinChanges
package import ServerApprovals
package import ServerFoundation
package import ServerModel
package import ServerStore

/// Turns approved proposals into documents for clients.
///
/// Opening a private key requires a ``SigningPermit``, which requires approvals, verified right before.
package struct Publisher: Sendable {
    /// The result of a proposal.
    package struct Proposal: Sendable {
        /// The id of the change.
        package let change: RandomID
        /// The changes of the content.
        package let difference: ContentDifference
        /// The outlook of clients with the change.
        package let outlook: PublicationOutlook
        /// The current results of the gates.
        package let report: GateReport

        package init(change: RandomID, difference: ContentDifference, outlook: PublicationOutlook, report: GateReport) {
            self.change = change
            self.difference = difference
            self.outlook = outlook
            self.report = report
        }
    }

    /// The result of publishing.
    package struct Outcome: Sendable, Hashable {
        /// The stage of a change.
        package enum Stage: Sendable, Hashable {
            /// The canary has it. All clients get it when it is published again from this time on, in seconds since
            /// 1970.
            case canary(until: Int64)
            /// All clients get it.
            case published(generation: Int64)
        }

        /// The stage of the change, regardless of problems.
        package let stage: Stage
        /// The errors after the commit, as text, such as writing to the folder. The next round tries again.
        package let problems: [String]

        package init(_ stage: Stage, problems: [String] = []) {
            self.stage = stage
            self.problems = problems
        }

        /// The canary has it, without problems.
        package static func canary(until time: Int64) -> Outcome { Outcome(.canary(until: time)) }
        /// All clients get it, without problems.
        package static func published(generation: Int64) -> Outcome { Outcome(.published(generation: generation)) }
    }

    /// The catalog to publish from.
    package let catalog: Catalog
    /// The folder that documents are written to.
    package let folder: PublicFolder
    /// The snapshot that answers clients.
    package let live: LiveSnapshot
    /// The secret that opens the private keys; nil if nothing can be signed.
    package let secret: SigningSecret?
    /// The name of this machine among the uploaders.
    package let name: String
    /// Reads documents back from public addresses.
    package let reader: any RemoteDataProvider
    /// The listener at which this process answers apps.
    package let listener: SelfCheckListener
    /// The apps without work for the rounds of this process.
    package let settled = SettledApps()
    /// The known content of this machine's folder.
    package let filled = FilledFolder()
    /// The latest status of each app.
    package let standings = KnownStandings()

    /// Makes a publisher.
    /// - Parameters:
    ///   - catalog: the catalog to publish from.
    ///   - folder: the folder that documents are written to.
    ///   - secret: the secret that opens the private keys; nil to sign nothing.
    ///   - live: the snapshot that answers clients.
    ///   - name: the name of this machine among the uploaders.
    ///   - reader: reads documents back from public addresses.
    ///   - listener: the listener at which this process answers apps.
    package init(
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
    ///   - content: the content to publish.
    ///   - forced: the gates that it passes even if it fails them. `canary` marks an emergency.
    ///   - proposer: the digest of the proposer's key; nil if the proposer is not an approver.
    ///   - reason: the reason.
    ///   - actor: the actor for the audit.
    ///   - generator: makes the id.
    /// - Throws: ``ServerError``.
    package func propose(
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

    /// Proposes an earlier publication again, as a new change with all requirements of a change.
    /// - Parameters:
    ///   - app: the app.
    ///   - generation: the generation to return to.
    ///   - end: the last second at which documents may be signed; nil for that of the old content.
    ///   - forced: the gates that it passes even if it fails them; `canary` for an emergency.
    ///   - proposer: the digest of the proposer's key.
    ///   - reason: the reason.
    ///   - actor: the actor for the audit.
    ///   - generator: makes the id.
    /// - Throws: ``ServerError`` `notFound` for a generation that does not exist.
    package func proposeReverting(
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
            return try Catalog.content(of: publication, app: app, in: session)
        }
        let content = try Content(
            app: app, hosts: old.hosts, formats: old.formats, domains: old.domains, end: end ?? old.end)
        return try await propose(
            content, forcing: forced, proposer: proposer, reason: reason, by: actor, using: &generator)
    }

    /// Proposes the content of another change again, for people to review: one whose time is over, or whose outlook was
    /// made before the hosts were seen.
    /// - Parameters:
    ///   - id: the other change.
    ///   - end: the last second at which documents may be signed; nil for that of the other change.
    ///   - forced: the gates that it passes even if it fails them.
    ///   - proposer: the digest of the proposer's key; nil if the proposer is not an approver.
    ///   - reason: the reason.
    ///   - actor: the actor for the audit.
    ///   - generator: makes the id.
    /// - Throws: ``ServerError`` `notFound`.
    package func proposeAgain(
        _ id: RandomID, until end: Int64? = nil, forcing forced: Set<Gate> = [], proposer: Digest?, reason: String,
        by actor: String, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> Proposal {
        let old = try await catalog.change(id).content
        let content = try Content(
            app: old.app, hosts: old.hosts, formats: old.formats, domains: old.domains, end: end ?? old.end)
        return try await propose(
            content, forcing: forced, proposer: proposer, reason: reason, by: actor, using: &generator)
    }

    /// Runs the gates as publishing would, and signs nothing.
    /// - Throws: ``ServerError``.
    package func rehearse(_ id: RandomID) async throws(ServerError) -> GateReport {
        let change = try await catalog.change(id)
        let scene = try await catalog.scene(of: change.content.app, for: change.content)
        return await GateRunner(scene: scene, change: change).report().report
    }
}

extension Publisher {
    /// The published content of an app; nil before the first publication.
    /// - Throws: ``ServerError``.
    package func published(_ app: AppName) async throws(ServerError) -> Content? {
        try await catalog.scene(of: app).published
    }
}
