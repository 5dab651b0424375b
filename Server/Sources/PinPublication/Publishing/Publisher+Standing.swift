import Foundation
package import HoldfastPublishing
package import PinChanges
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// The status of an app.
    package struct Standing: Sendable {
        /// When it was read, in seconds since 1970.
        package let now: Int64
        /// The app.
        package let app: AppName
        /// The published generation; 0 for none.
        package let generation: Int64
        /// The last second at which its documents may be signed, in seconds since 1970; nil before the first publication.
        package let end: Int64?
        /// The outlook of the publication; nil before the first one.
        package internal(set) var outlook: PublicationOutlook?
        /// The verdict for the time that a change needs to reach all clients; nil before the first publication. A pin
        /// that ends later does not make a healthy app `ending`: ``deadline`` states when to publish.
        package let verdict: PublicationOutlook.Verdict?
        /// The clients that would be locked out, as text.
        package let losses: [String]
        /// The first second at which a client is locked out without another publication, in seconds since 1970: its
        /// document has ended, or a host presents nothing that it accepts. The time of reading if clients are locked
        /// out already. Nil before the first publication.
        package let refusedFrom: Int64?
        /// The deadline of the next publication, so that it reaches all clients in time; nil if no end is in sight.
        package let deadline: PublishingDeadline?
        /// The open changes and their states; emergencies first.
        package internal(set) var open: [(change: Change, state: Change.State)]
        /// The status of the canary; nil if no change has it.
        package let canary: CanaryStanding?
        /// The required actions for keys that were in plain text before they came here, as text.
        package let plainTextKeys: [String]
        /// The servers that present an expired certificate, such as a forgotten server, as text.
        package let expiredServers: [String]
        /// Why nothing is signed, as text: a backup was restored.
        package let held: [String]

        /// Whether a publication is due so soon that people have to act.
        package var isPressing: Bool { deadline?.isPressing(at: now) ?? false }

        /// Whether all clients can connect, and no action is due soon.
        package var isGood: Bool { alerts(at: now).isEmpty }
    }

    /// An alert about an app that people have to act on. The command, REST, the overview, metrics and notices all show
    /// these, and no other alerts about its clients.
    package struct StandingAlert: Sendable, Hashable {
        /// The subject of an alert, the most urgent first.
        package enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Clients are locked out, will be, or their access is unknown.
            case lockedOut
            /// A server presents an expired certificate.
            case expired
            /// Nothing is signed.
            case held
            /// Clients refuse the documents of the canary.
            case canary
            /// A publication is due soon, or now.
            case publish
        }

        /// The subject.
        package let kind: Kind
        /// The description, and what to do.
        package let words: String
    }

    /// Determines the status of an app: whether all clients can connect, until when, and which work waits for people.
    /// - Throws: ``ServerError``.
    package func standing(of app: AppName) async throws(ServerError) -> Standing {
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
            // A later end of documents is of no use if a host's last known certificate ends before it.
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

    /// The changes of an app that wait for people, with their states; emergencies first.
    /// - Throws: ``ServerError``.
    package func openChanges(of app: AppName) async throws(ServerError) -> [(change: Change, state: Change.State)] {
        let chain = try await catalog.approvers()
        let (generation, now) = (catalog.ledger.generation(of: app), try await catalog.now())
        let open = try await catalog.changes(of: app).map { ($0, $0.state(chain, generation: generation, at: now)) }
            .filter { $0.1 == .proposed || $0.1 == .approved }
        return open.filter(\.0.isEmergency) + open.filter { !$0.0.isEmergency }
    }

    static let heldByRestoring =
        "restored from a backup, and the public documents differ, so nothing is signed until the next publication; "
        + "propose a change, have it approved and publish it"
}

extension Publisher.Standing {
    /// The alerts at a time, the most urgent first.
    /// - Parameter now: seconds since 1970. The evaluation stays the same until the next one, but deadlines pass.
    package func alerts(at now: Int64) -> [Publisher.StandingAlert] {
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

    /// The time at which the first client is locked out, as text; nil before the first publication.
    /// - Parameter now: seconds since 1970.
    package func refusalWords(at now: Int64) -> String? {
        guard let refusedFrom else { return nil }
        let time = ClockGuard.text(refusedFrom)
        return refusedFrom <= now
            ? "clients have been locked out since \(time) or earlier: publish now, or install a certificate that they "
                + "accept"
            : "without another publication, the first client is locked out at \(time)"
    }

    /// The time until which documents may be signed, as text.
    /// - Parameter now: seconds since 1970.
    package func endWords(at now: Int64) -> String {
        guard let end else { return "nothing is published" }
        let time = ClockGuard.text(end)
        return now <= end
            ? "documents may be signed until \(time)"
            : "documents could be signed until \(time), and no longer: propose a change, and publish it now"
    }
}
