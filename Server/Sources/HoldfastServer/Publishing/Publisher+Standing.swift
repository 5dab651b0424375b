import Foundation
public import HoldfastPublishing

extension Publisher {
    /// How an app stands.
    public struct Standing: Sendable {
        /// When it was read, in seconds since 1970.
        public let now: Int64
        /// The app.
        public let app: AppName
        /// The generation that is published; 0 for none.
        public let generation: Int64
        /// The last second at which its documents may be signed, in seconds since 1970; nil before the first publication.
        public let end: Int64?
        /// How clients fare with what is published; nil before the first publication.
        public internal(set) var outlook: PublicationOutlook?
        /// How they fare for the time that a change needs to reach all of them; nil before the first publication. A pin that
        /// ends later is no reason to call a healthy app `ending`: ``deadline`` says when to publish.
        public let verdict: PublicationOutlook.Verdict?
        /// Who would be lost, in words.
        public let losses: [String]
        /// The first second at which a client is refused if nobody publishes anything, in seconds since 1970: what it has or
        /// finds has ended then, or a host shows nothing anymore that it accepts. The time of reading if clients are refused
        /// already. Nil before the first publication.
        public let refusedFrom: Int64?
        /// What to publish before that, and until when, so that it reaches everybody in time; nil if no end is in sight.
        public let deadline: PublishingDeadline?
        /// The changes that are open, with where they are on their way; emergencies first.
        public internal(set) var open: [(change: Change, state: Change.State)]
        /// How the canary stands; nil if no change has it.
        public let canary: CanaryStanding?
        /// What to do about keys that were in plain text before they came here, in words.
        public let plainTextKeys: [String]
        /// The servers that show a certificate that has expired, such as one that was forgotten, in words.
        public let expiredServers: [String]
        /// Why nothing is signed, in words: a backup was restored.
        public let held: [String]

        /// Whether something has to be published so soon that people have to act.
        public var isPressing: Bool { deadline?.isPressing(at: now) ?? false }

        /// Whether everybody gets in, and nothing has to be done soon.
        public var isGood: Bool { alerts(at: now).isEmpty }
    }

    /// Something about an app that people have to act on. The command, REST, the overview, metrics and notices all show
    /// these, and alert for nothing else that concerns its clients.
    public struct StandingAlert: Sendable, Hashable {
        /// What it is about, the most urgent first.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Clients are locked out, will be, or nobody can say whether they are.
            case lockedOut
            /// A server shows a certificate that has expired.
            case expired
            /// Nothing is signed.
            case held
            /// Clients refuse what the canary has.
            case canary
            /// Something has to be published soon, or at once.
            case publish
        }

        /// What it is about.
        public let kind: Kind
        /// What it is, and what to do, in words.
        public let words: String
    }

    /// Says how an app stands: whether everybody gets in, until when, and what waits for people.
    /// - Throws: ``ServerError``.
    public func standing(of app: AppName) async throws(ServerError) -> Standing {
        let place = catalog.ledger.touches.latest(of: app)
        let scene = try await catalog.scene(of: app)
        let timing = scene.app.settings.timing
        var outlook: PublicationOutlook?
        var losses: [String] = []
        var refusedFrom: Int64?
        let deadline = try await PublishingDeadline(scene)
        if let published = scene.published {
            if let inputs = try await OutlookMaker(scene: scene).inputsOfPublished() {
                let judged = try ServerError.translating(.notPublishable, of: "outlook of \(app)") {
                    () throws(PublishingError) in try PublicationOutlook(judging: inputs)
                }
                let all = LostClients(judged, scene, leavingTime: true)
                (outlook, losses) = (judged, all.dropped + all.refused + all.lockedOut)
            }
            let end = catalog.writeProblem.map { _ in scene.now }
            let documents = await DocumentsEnd(scene, published, signingUntil: end).time
            // Documents that go on are of no use where a host's last known certificate ends.
            let hosts =
                if let deadline { deadline.lockout } else {
                    try await PublishingDeadline.lockout(scene, before: documents)
                }
            let isRefusedNow = outlook?.verdict(within: .seconds(1)).verdict == .out
            refusedFrom =
                isRefusedNow ? min(scene.now, documents) : timing.firstLockout(documents: documents, hosts: hosts)
        }
        let standing = Standing(
            now: scene.now, app: app, generation: scene.generation, end: scene.published?.end, outlook: outlook,
            verdict: outlook?.verdict(within: timing.wait).verdict, losses: losses,
            refusedFrom: refusedFrom, deadline: deadline, open: try await openChanges(of: app),
            canary: canaryStanding(scene), plainTextKeys: scene.keys.all.compactMap(\.plainTextWarning),
            expiredServers: scene.expiredServers,
            held: catalog.ledger.isHeld(app) ? [Self.heldByRestoring] : [])
        standings.note(standing, at: place)
        return standing
    }

    /// The changes of an app that wait for people, with where they are on their way; emergencies first.
    /// - Throws: ``ServerError``.
    func openChanges(of app: AppName) async throws(ServerError) -> [(change: Change, state: Change.State)] {
        let chain = try await catalog.approvers()
        let (generation, now) = (catalog.ledger.generation(of: app), try await catalog.now())
        let open = try await catalog.changes(of: app).map { ($0, $0.state(chain, generation: generation, at: now)) }
            .filter { $0.1 == .proposed || $0.1 == .approved }
        return open.filter(\.0.isEmergency) + open.filter { !$0.0.isEmergency }
    }

    static let heldByRestoring =
        "restored from a backup, and what is public is something else: nothing is signed before the next publication; "
        + "propose a change, have it approved and publish it"
}

extension Publisher.Standing {
    /// What people have to act on at a time, the most urgent first.
    /// - Parameter now: seconds since 1970: what was judged before counts until it is judged again, but times pass.
    public func alerts(at now: Int64) -> [Publisher.StandingAlert] {
        var alerts: [Publisher.StandingAlert] = []
        func add(_ kind: Publisher.StandingAlert.Kind, _ words: [String]) {
            alerts += words.map { Publisher.StandingAlert(kind: kind, words: $0) }
        }
        add(.lockedOut, losses)
        add(.expired, expiredServers)
        add(.held, held)
        add(.canary, canary?.refusals ?? [])
        if let deadline, deadline.isPressing(at: now) { add(.publish, [deadline.advice(at: now)]) }
        return alerts
    }

    /// When the first client is refused, in words; nil before the first publication.
    /// - Parameter now: seconds since 1970.
    public func refusalWords(at now: Int64) -> String? {
        guard let refusedFrom else { return nil }
        let time = ClockGuard.text(refusedFrom)
        return refusedFrom <= now
            ? "clients are refused since \(time) or earlier: publish now, or install a certificate that they accept"
            : "if nobody publishes, the first is refused at \(time)"
    }

    /// Until when documents may be signed, in words.
    /// - Parameter now: seconds since 1970.
    public func endWords(at now: Int64) -> String {
        guard let end else { return "nothing is published" }
        let time = ClockGuard.text(end)
        return now <= end
            ? "documents may be signed until \(time)"
            : "documents could be signed until \(time), and no longer: propose a change, and publish it now"
    }
}
