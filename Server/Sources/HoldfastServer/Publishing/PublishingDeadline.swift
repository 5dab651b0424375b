import Foundation
import Holdfast
import HoldfastPublishing

/// Until when something has to be published for an app, so that clients of every age know it before they need it.
public struct PublishingDeadline: Sendable, Hashable {
    /// The first second at which clients of what is published get in with nothing that a host shows or has next, in
    /// seconds since 1970.
    public let lockout: Int64
    /// The last second at which a publication is early enough: the canary has it before everybody, and a client that
    /// asked right before asks again after the staleness.
    public let lastSafe: Int64
    /// The second from which on people are told.
    public let alarm: Int64
    /// Which clients, and where, in words.
    public let words: String
    /// The host.
    let host: CatalogHost
    /// What ends: a certificate, or the content.
    let subject: Digest

    /// A deadline is known for so many seconds before people are alerted, so that surfaces which ask rarely alert in time.
    static let foresight: Int64 = 2 * 3_600

    /// How much time people get, by the certificates that the hosts show.
    private static func lead(_ scene: AppSnapshot) -> Duration {
        PublicationTiming.lead(
            forLifetimes: scene.hosts.flatMap(\.shown).compactMap { $0.chain?.leaf }
                .map { .seconds(Int64($0.notAfter.timeIntervalSince($0.notBefore))) })
    }

    /// Judges what is published; nil if nothing is, or if no end is in sight.
    /// - Throws: ``ServerError`` `notPublishable`.
    init?(_ scene: AppSnapshot) async throws(ServerError) {
        guard let published = scene.published, let first = scene.hosts.first else { return nil }
        let (timing, lead) = (scene.app.settings.timing, Self.lead(scene))
        let horizon = timing.reach(of: scene.now) + lead.components.seconds + Self.foresight
        let ends = try await Self.ends(scene, before: horizon)
        let documents = await DocumentsEnd(scene, published, signingUntil: nil).time
        lockout = timing.firstLockout(documents: documents, hosts: ends?.access.end)
        guard lockout <= horizon else { return nil }
        let end = ClockGuard.text(lockout)
        if let (outlook, access) = ends, lockout != documents {
            let host = scene.hosts[access.host]
            let apps = "apps with \(outlook.documentNames[access.document])"
            if access.place < host.shown.count {
                let shown = host.shown[access.place]
                words = "\(apps) get in at \(host.host.label), \(shown.address), until \(end) with what is published"
                subject = shown.chain?.fingerprint ?? published.digest
            } else {
                words =
                    "\(apps) do not get in at \(host.host.label) with the certificate that is announced from \(end) on"
                subject = host.next.chains[access.place - host.shown.count].chain.fingerprint
            }
            self.host = host.host
        } else {
            words = "what is published \(documents <= scene.now ? "ended" : "ends") at \(end), and is not signed again"
            (subject, host) = (published.digest, first.host)
        }
        lastSafe = timing.lastSafePublication(before: lockout)
        alarm = timing.alert(before: lockout, lead: lead)
    }

    /// The first second at which clients that get in now are locked out although what is published is signed again in time.
    /// - Parameter horizon: how far to look, in seconds since 1970.
    /// - Returns: seconds since 1970; nil if there is none before the horizon.
    /// - Throws: ``ServerError`` `notPublishable`.
    static func lockout(_ scene: AppSnapshot, before horizon: Int64) async throws(ServerError) -> Int64? {
        try await ends(scene, before: horizon)?.access.end
    }

    /// The access of clients that ends first up to a horizon, with the outlook that says so.
    private static func ends(
        _ scene: AppSnapshot, before horizon: Int64
    ) async throws(ServerError) -> (outlook: PublicationOutlook, access: Access)? {
        guard horizon >= scene.now, var inputs = try await OutlookMaker(scene: scene).inputsOfPublished() else {
            return nil
        }
        // Builds get other pins with the app alone, and clients of what was replaced ask again in time.
        inputs.documents.removeAll {
            $0.replaced != nil || ($0.kind == .shippedPins && !OutlookMaker.isOfNextBuild($0.appVersions))
        }
        for host in inputs.hosts.indices {
            // That nobody has looked lately puts off no end.
            for place in inputs.hosts[host].shown.indices where inputs.hosts[host].shown[place].seen != nil {
                inputs.hosts[host].shown[place].seen = inputs.now
            }
        }
        inputs.span = .seconds(horizon - scene.now + 1)
        let judged = inputs
        let outlook = try ServerError.translating(.notPublishable, of: "outlook of \(scene.app.name)") {
            () throws(PublishingError) in try PublicationOutlook(judging: judged)
        }
        // Clients that are locked out already are another fault, which the outlook names.
        // Of ends at one second all callers name the same, so that surfaces agree: a dictionary's order is another each time.
        return accesses(outlook, scene).filter { $0.end > scene.now && $0.end <= horizon }
            .min { ($0.end, $0.host, $0.place, $0.document) < ($1.end, $1.host, $1.place, $1.document) }
            .map { (outlook, $0) }
    }

    /// Whether people have to act at a time, in seconds since 1970.
    public func isPressing(at now: Int64) -> Bool { now >= alarm }

    /// The message to people: until when to publish, and why; once that time is over, that it has to happen now.
    /// - Parameter now: seconds since 1970.
    public func advice(at now: Int64) -> String {
        let end = ClockGuard.text(lastSafe)
        if now <= lastSafe { return "publish until \(end): \(words)" }
        let who =
            now < lockout
            ? "clients that have not asked for long may be locked out from \(ClockGuard.text(lockout)) on"
            : "clients are locked out since \(ClockGuard.text(lockout))"
        return "publish now: \(who), since the last safe time was \(end): \(words)"
    }

    /// Until when clients of one document get in at one place: with what it shows, then with what may be installed there;
    /// or, at an announced chain that they do not know, until it begins.
    private struct Access {
        let host: Int
        let place: Int
        let document: Int
        var end: Int64
    }

    private static func accesses(_ outlook: PublicationOutlook, _ scene: AppSnapshot) -> [Access] {
        struct Client: Hashable {
            let host: Int
            let document: Int
            let kind: PublicationOutlook.Client
            let holders: PublicationOutlook.Holders
        }
        var shown: [Client: [Int: [PublicationOutlook.Span]]] = [:]
        var next: [Client: [PublicationOutlook.Span]] = [:]
        var unknown: [Access] = []
        for row in outlook.rows {
            guard let host = row.hostIndex, let place = row.presentation, let document = row.document,
                let kind = row.client
            else { continue }
            let client = Client(host: host, document: document, kind: kind, holders: row.holders)
            // What the next build carries is published before that build, and what hosts show now ends nothing there.
            let isOfNextBuild = kind == .shippedPins
            if place < scene.hosts[host].shown.count, !isOfNextBuild {
                shown[client, default: [:]][place, default: []] += row.spans
            } else if place >= scene.hosts[host].shown.count {
                if !isOfNextBuild { next[client, default: []] += row.spans }
                if row.isUnpublished, let start = row.start {
                    unknown.append(
                        Access(host: host, place: place, document: document, end: Int64(start.timeIntervalSince1970)))
                }
            }
        }
        return unknown
            + shown.flatMap { client, places in
                places.compactMap { place, spans in
                    let good = (spans + (next[client] ?? [])).filter { $0.getsIn && !$0.isGrace }
                        .sorted { $0.start < $1.start }
                    var end = OutlookMaker.date(scene.now)
                    for span in good where span.start <= end { end = max(end, span.end) }
                    if client.kind.pinsKeys, next[client] == nil,
                        endsWithCertificate(spans, at: end, of: scene.hosts[client.host], place),
                        scene.publishesNextKeys(of: client.host)
                    {
                        return nil
                    }
                    return Access(
                        host: client.host, place: place, document: client.document,
                        end: Int64(end.timeIntervalSince1970))
                }
            }
    }

    /// Whether a certificate ends then, and not the pin of its key: clients that pin keys get in with any renewal over the
    /// same key, and no publication would put that end off.
    private static func endsWithCertificate(
        _ spans: [PublicationOutlook.Span], at end: Date, of host: AppSnapshot.Host, _ place: Int
    ) -> Bool {
        if let span = spans.first(where: { $0.start == end && !$0.getsIn }) { return span.cause?.code == .certificate }
        return host.shown[place].chain?.leaf.map { $0.notAfter.addingTimeInterval(1) <= end } ?? false
    }
}

extension PublicationOutlook.Client {
    /// Whether a renewal over the same key changes nothing for it.
    fileprivate var pinsKeys: Bool { [.shippedPins, .repository, .trustServerKeys].contains(self) }
}

extension AppSnapshot {
    /// Whether every key that was announced for a host is published: if not, people have to publish it.
    fileprivate func publishesNextKeys(of index: Int) -> Bool {
        let host = hosts[index]
        let known = Set((published?.hosts ?? []).filter { $0.covers(host.host) }.flatMap { $0.keys.map(\.pin) })
        return host.next.keys.allSatisfy { known.contains(Digest(of: $0)) }
    }
}

extension Publisher {
    /// Until when something has to be published for an app; nil if nothing is published yet, or if no end is in sight.
    /// - Throws: ``ServerError``.
    public func deadline(of app: AppName) async throws(ServerError) -> PublishingDeadline? {
        try await PublishingDeadline(try await catalog.scene(of: app))
    }

    /// Says in the audit that something has to be published soon; once for each certificate or content that ends.
    /// - Returns: until when, and which changes wait for people, in words; nil if there is time.
    /// - Throws: ``ServerError``.
    func remind(of app: AppName) async throws(ServerError) -> String? {
        let scene = try await catalog.scene(of: app)
        guard let deadline = try await PublishingDeadline(scene), deadline.isPressing(at: scene.now) else { return nil }
        let end = ClockGuard.text(deadline.lastSafe)
        let words = deadline.advice(at: scene.now)
        try await catalog.remind(about: deadline.subject, until: end, on: deadline.host, of: app, words: words)
        let chain = try await catalog.approvers()
        let waiting = try await catalog.changes(of: app)
            .filter { $0.state(chain, generation: scene.generation, at: scene.now) == .proposed }
            .map { "; change \($0.id) waits for approvals until \(ClockGuard.text($0.end))" }
        return words + waiting.joined()
    }
}
