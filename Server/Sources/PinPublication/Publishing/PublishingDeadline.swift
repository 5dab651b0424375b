import Foundation
import Holdfast
import HoldfastPublishing
package import PinChanges
package import ServerFoundation
package import ServerModel
import ServerStore

/// The deadline for a publication of an app, so that clients of every age have it before they need it.
package struct PublishingDeadline: Sendable, Hashable {
    /// The first second at which clients of the publication accept nothing that a host presents or has announced, in
    /// seconds since 1970.
    package let lockout: Int64
    /// The last second at which a publication is early enough: the canary has it before all clients, and a client that
    /// queried right before queries again after the staleness.
    package let lastSafe: Int64
    /// The second from which on people are alerted.
    package let alarm: Int64
    /// The affected clients and hosts, as text.
    package let words: String
    package let host: CatalogHost
    /// The certificate or content that ends.
    package let subject: Digest

    /// A deadline is known this many seconds before people are alerted, so that surfaces with rare updates alert in
    /// time.
    static let foresight: Int64 = 2 * 3_600

    /// The time that people get, depending on the lifetimes of the hosts' certificates.
    private static func lead(_ scene: AppSnapshot) -> Duration {
        PublicationTiming.lead(
            forLifetimes: scene.hosts.flatMap(\.shown).compactMap { $0.chain?.leaf }
                .map { .seconds(Int64($0.notAfter.timeIntervalSince($0.notBefore))) })
    }

    /// Evaluates the publication; nil before the first one, or if no end is in sight.
    /// - Throws: ``ServerError`` `notPublishable`.
    package init?(_ scene: AppSnapshot) async throws(ServerError) {
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
                words =
                    "\(apps) can connect to \(host.host.label), \(shown.address), until \(end) with the published pins"
                subject = shown.chain?.fingerprint ?? published.digest
            } else {
                words =
                    "\(apps) cannot connect to \(host.host.label) with the certificate announced for \(end) and later"
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

    /// The first second at which clients that can connect now are locked out, even if documents are signed again in
    /// time.
    /// - Parameter horizon: the end of the evaluated time, in seconds since 1970.
    /// - Returns: seconds since 1970; nil if no lockout is before the horizon.
    /// - Throws: ``ServerError`` `notPublishable`.
    package static func lockout(_ scene: AppSnapshot, before horizon: Int64) async throws(ServerError) -> Int64? {
        try await ends(scene, before: horizon)?.access.end
    }

    /// The client access that ends first before a horizon, and the outlook that shows it.
    private static func ends(
        _ scene: AppSnapshot, before horizon: Int64
    ) async throws(ServerError) -> (outlook: PublicationOutlook, access: Access)? {
        guard horizon >= scene.now, var inputs = try await OutlookMaker(scene: scene).inputsOfPublished() else {
            return nil
        }
        // Builds get other pins only with a new version, and clients of replaced documents query again in time.
        inputs.documents.removeAll {
            $0.replaced != nil || ($0.kind == .shippedPins && !OutlookMaker.isOfNextBuild($0.appVersions))
        }
        for host in inputs.hosts.indices {
            // A stale observation must not postpone an end.
            for place in inputs.hosts[host].shown.indices where inputs.hosts[host].shown[place].seen != nil {
                inputs.hosts[host].shown[place].seen = inputs.now
            }
        }
        inputs.span = .seconds(horizon - scene.now + 1)
        let judged = inputs
        let outlook = try ServerError.translating(.notPublishable, of: "outlook of \(scene.app.name)") {
            () throws(PublishingError) in try PublicationOutlook(judging: judged)
        }
        // The outlook reports clients that are locked out already. Of several ends at the same second, always choose
        // the same one, so that surfaces agree: the order of a dictionary varies.
        return accesses(outlook, scene).filter { $0.end > scene.now && $0.end <= horizon }
            .min { ($0.end, $0.host, $0.place, $0.document) < ($1.end, $1.host, $1.place, $1.document) }
            .map { (outlook, $0) }
    }

    /// Whether people have to act at a time, in seconds since 1970.
    package func isPressing(at now: Int64) -> Bool { now >= alarm }

    /// The message to people: the deadline and the reason; after the deadline, that they must publish now.
    /// - Parameter now: seconds since 1970.
    package func advice(at now: Int64) -> String {
        let end = ClockGuard.text(lastSafe)
        if now <= lastSafe { return "publish until \(end): \(words)" }
        let who =
            now < lockout
            ? "clients that have not asked for long may be locked out from \(ClockGuard.text(lockout)) on"
            : "clients are locked out since \(ClockGuard.text(lockout))"
        return "publish now: \(who), since the last safe time was \(end): \(words)"
    }

    /// The end of access for clients of one document at one address: with the presented certificate, then with those
    /// that may be installed there; for an announced chain that they do not know, its start.
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
            // The pins of the next build are published before that build. Certificates that hosts present now are
            // irrelevant for it.
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

    /// Whether a certificate ends then, and not the pin of its key. Clients that pin keys accept any renewal over the
    /// same key, so no publication would postpone that end.
    private static func endsWithCertificate(
        _ spans: [PublicationOutlook.Span], at end: Date, of host: AppSnapshot.Host, _ place: Int
    ) -> Bool {
        if let span = spans.first(where: { $0.start == end && !$0.getsIn }) { return span.cause?.code == .certificate }
        return host.shown[place].chain?.leaf.map { $0.notAfter.addingTimeInterval(1) <= end } ?? false
    }
}

extension PublicationOutlook.Client {
    /// Whether it accepts a renewal over the same key.
    fileprivate var pinsKeys: Bool { [.shippedPins, .repository, .trustServerKeys].contains(self) }
}

extension AppSnapshot {
    /// Whether every announced key of a host is published. If not, people have to publish it.
    fileprivate func publishesNextKeys(of index: Int) -> Bool {
        let host = hosts[index]
        let known = Set((published?.hosts ?? []).filter { $0.covers(host.host) }.flatMap { $0.keys.map(\.pin) })
        return host.next.keys.allSatisfy { known.contains(Digest(of: $0)) }
    }
}

extension Publisher {
    /// The publishing deadline of an app; nil before the first publication, or if no end is in sight.
    /// - Throws: ``ServerError``.
    package func deadline(of app: AppName) async throws(ServerError) -> PublishingDeadline? {
        try await PublishingDeadline(try await catalog.scene(of: app))
    }

    /// Records in the audit that a publication is due soon; once for each certificate or content that ends.
    /// - Returns: the deadline, and the changes that wait for people, as text; nil if there is time.
    /// - Throws: ``ServerError``.
    package func remind(of app: AppName) async throws(ServerError) -> String? {
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
