package import Foundation
import Holdfast
package import HoldfastPublishing
import PinChanges
package import ServerFoundation
package import ServerModel
import ServerStore

/// Whether an announced certificate may be installed on its host now.
package struct InstallationReadiness: Sendable, Hashable {
    /// Whether all clients can connect with it now.
    package let isReady: Bool
    /// The time from which clients can fetch the publication, in seconds since 1970; nil before the first publication.
    package let since: Int64?
    /// If it is ready, the first second at which some clients can no longer connect, within the evaluated time;
    /// otherwise the first second from which on all can. Nil for none.
    package let until: Int64?
    /// Why it is not ready, as text; empty if it is ready, unless it is urgent.
    package let words: String
    /// The time of the evaluation, in seconds since 1970.
    package let now: Int64
    /// The time from which some clients are locked out whether or not it is installed, in seconds since 1970: the
    /// served certificate has ended, or ends before the wait is over. Nil if that is not so.
    package internal(set) var lockedOutSince: Int64?
    /// The first second at which the served certificate is no longer valid, in seconds since 1970; nil if unknown.
    package internal(set) var servedUntil: Int64?

    /// Whether it must be installed now, with an alert, although some clients cannot connect with it, or not for long:
    /// waiting locks all clients out.
    package var isUrgent: Bool { lockedOutSince != nil }
    /// Whether it may be installed now.
    package var isInstallable: Bool { isReady || isUrgent }

    /// The alert for an operator if it is urgent; nil otherwise.
    package var alert: String? {
        guard let lockedOutSince else { return nil }
        let begins = ClockGuard.text(lockedOutSince)
        let served = servedUntil.map { end in
            "; what is served \(end <= now ? "ended" : "ends") at \(ClockGuard.text(end))"
        }
        let reason = words.isEmpty ? "" : ". \(words)"
        return "install now, and alert: some clients are locked out either way, "
            + (lockedOutSince <= now ? "since \(begins)" : "from \(begins) on at the latest")
            + (served ?? "") + reason
    }
}

extension Publisher {
    /// Evaluates whether a certificate or key may be installed, with clients of every age: those that have the current
    /// publication, and those that still use an earlier one.
    /// - Parameters:
    ///   - digest: the SHA-256 of a certificate that was announced, of its key, or of a key that was announced.
    ///   - host: the host.
    ///   - app: the app.
    /// - Throws: ``ServerError`` `notFound` for a digest that was not announced.
    package func readiness(
        of digest: Digest, on host: CatalogHost, of app: AppName
    ) async throws(ServerError) -> InstallationReadiness {
        let scene = try await catalog.scene(of: app)
        guard let place = scene.hosts.first(where: { $0.host.label == host.label }),
            let next = place.next.installation(digest)
        else {
            throw ServerError(
                .notFound, of: "digest", expected: "a certificate or key that was announced for \(host.label)",
                found: "\(digest)",
                remedy: "Announce it first, and have a change published with it: its pin has to reach clients "
                    + "before it does. `holdfast-server next chain \(app) \(host.label) --chain FILE --from TIME --data DIR`."
            )
        }
        let since = scene.publications.last?.published
        let served = ServedEnd(place, in: scene)
        /// The answer without an evaluation of clients: install only if the served certificate ends first.
        func closed(_ words: String, until: Int64?) -> InstallationReadiness {
            var answer = InstallationReadiness(
                isReady: false, since: since, until: until, words: words, now: scene.now)
            answer.servedUntil = served.time
            answer.lockedOutSince = InstallationReadiness.lockout(
                servedUntil: served.time, waitingUntil: until, at: scene.now)
            return answer
        }
        guard let inputs = try await OutlookMaker(scene: scene).inputsOfPublished() else {
            return closed("nothing is published yet", until: nil)
        }
        let timing = scene.app.settings.timing
        if let end = catalog.ledger.unknownDocuments(of: app, timing), end >= scene.now {
            return closed(
                "clients may have documents from before a backup was restored, or from another server",
                until: end == .max ? nil : end)
        }
        guard let dialed = try? DialedHost(host.name, port: Int(host.port)) else {
            throw ServerError(.invalidValue, of: "host", expected: "a host that can be dialed", found: host.label)
        }
        let gate = try ServerError.translating(.notPublishable, of: "host \(host.label)") {
            () throws(PublishingError) in
            // This server has signed all documents of the app that clients may hold.
            try InstallationGate(
                installing: next, on: dialed, judging: inputs, hasEarlierDocuments: false,
                servedUntil: served.time.map(OutlookMaker.date))
        }
        return InstallationReadiness(
            gate, since: since, served: served, timing, naturalEnd: next.naturalEnd, at: scene.now)
    }
}

extension InstallationReadiness {
    /// The time from which some clients are locked out even without waiting; nil if waiting helps. An end in the second
    /// in which the wait ends is before the end of the wait.
    /// - Parameters:
    ///   - end: the first second at which the served certificate is no longer valid; nil if unknown.
    ///   - until: the end of the wait; nil if waiting does not help.
    ///   - now: seconds since 1970.
    package static func lockout(servedUntil end: Int64?, waitingUntil until: Int64?, at now: Int64) -> Int64? {
        guard let end, end <= max(now, until ?? now) else { return nil }
        return end
    }

    /// Converts the answer of the gate.
    /// - Parameters:
    ///   - served: the end of validity of the served certificate.
    ///   - naturalEnd: the first instant at which the certificate to install is no longer valid; nil for a key.
    package init(
        _ gate: InstallationGate, since: Int64?, served: ServedEnd, _ timing: PublicationTiming, naturalEnd: Date?,
        at now: Int64
    ) {
        func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970.rounded(.up)) }
        let cause = gate.cause.map { $0.words.isEmpty ? $0.code.rawValue : $0.words } ?? ""
        var isUrgent = gate.servedEndsFirst
        switch gate.answer {
        case .open: self.init(isReady: true, since: since, until: nil, words: "", now: now)
        case .ending(let end):
            // The end of a certificate with a lifetime of a few days needs no alert, nor does one that leaves time for
            // a change.
            let isNear = end < min(naturalEnd ?? .distantFuture, timing.reach(ofChangeBegunAt: OutlookMaker.date(now)))
            isUrgent = isUrgent && (isNear || served.time.map { $0 <= now } ?? false)
            self.init(
                isReady: true, since: since, until: seconds(end),
                words: isUrgent
                    ? "with the announced certificate or key, clients can connect until "
                        + "\(ClockGuard.text(seconds(end))): \(cause)" : "",
                now: now)
        case .closed(let opening):
            self.init(
                isReady: false, since: since, until: opening.map(seconds),
                words: "clients would be locked out: \(cause)", now: now)
        case .unknown:
            self.init(
                isReady: false, since: since, until: nil, words: "it is unknown whether clients can connect: \(cause)",
                now: now)
        }
        servedUntil = served.time
        lockedOutSince = isUrgent ? gate.lockedOutSince.map(seconds) : nil
    }
}

extension InstallationGate.Next {
    /// The first instant at which the certificate is no longer valid; nil for a key.
    fileprivate var naturalEnd: Date? {
        guard case .chain(let chain) = self, let leaf = chain.first,
            let certificate = try? X509Certificate(der: [UInt8](leaf))
        else { return nil }
        return certificate.notAfter.addingTimeInterval(1)
    }
}

extension AnnouncedCertificates {
    /// The announced chain or key with a digest; nil if it does not exist.
    fileprivate func installation(_ digest: Digest) -> InstallationGate.Next? {
        let chain = chains.map(\.chain).first { chain in
            guard let leaf = chain.leaf else { return false }
            return Digest(of: leaf.der) == digest || Digest(of: leaf.subjectPublicKeyInfo) == digest
        }
        if let chain { return .chain(chain.certificates.map { Data($0) }) }
        return keys.first { Digest(of: $0) == digest }.map { .key(Data($0)) }
    }
}
