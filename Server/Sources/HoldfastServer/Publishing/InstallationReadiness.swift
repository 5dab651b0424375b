import Foundation
import Holdfast
import HoldfastPublishing

/// Whether a certificate that was announced may be installed on its host now.
public struct InstallationReadiness: Sendable, Hashable {
    /// Whether every client gets in with it now.
    public let isReady: Bool
    /// Since when clients can fetch what is published, in seconds since 1970; nil before the first publication.
    public let since: Int64?
    /// If it is ready, the first second at which not every client gets in anymore, as far as one looks ahead; else the
    /// first from which on all do. Nil for none.
    public let until: Int64?
    /// Why it is not, in words; empty if it is, unless that is urgent.
    public let words: String
    /// When this was judged, in seconds since 1970.
    public let now: Int64
    /// Since when, or from when on, some clients are locked out whether or not it is installed, in seconds since 1970:
    /// what is served has ended, or ends before the wait is over. Nil if that is not so.
    public internal(set) var lockedOutSince: Int64?
    /// The first second at which what is served is no longer valid, in seconds since 1970; nil if that is not known.
    public internal(set) var servedUntil: Int64?

    /// Whether it must be installed now, and people alerted, although not every client gets in with it, or not for long:
    /// by waiting, all clients are locked out.
    public var isUrgent: Bool { lockedOutSince != nil }
    /// Whether it may be installed now.
    public var isInstallable: Bool { isReady || isUrgent }

    /// What an operator must know if it is urgent; nil if it is not.
    public var alert: String? {
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
    /// Says whether a certificate or key may be installed, by letting clients of every age meet it: those that have what
    /// is published, and those that still go on with what was.
    /// - Parameters:
    ///   - digest: the SHA-256 of a certificate that was announced, of its key, or of a key that was announced.
    ///   - host: the host.
    ///   - app: the app.
    /// - Throws: ``ServerError`` `notFound` for what nobody announced.
    public func readiness(
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
        /// What can be said without asking clients: it is installed only if what is served ends first.
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
            // This server has signed every document of the app that anybody holds.
            try InstallationGate(
                installing: next, on: dialed, judging: inputs, hasEarlierDocuments: false,
                servedUntil: served.time.map(OutlookMaker.date))
        }
        return InstallationReadiness(
            gate, since: since, served: served, timing, naturalEnd: next.naturalEnd, at: scene.now)
    }
}

extension InstallationReadiness {
    /// Since when, or from when on, some clients are locked out whether or not one waits; nil if waiting helps. Something
    /// that ends in the second in which the wait ends, or before it, has ended before the wait.
    /// - Parameters:
    ///   - end: the first second at which what is served is no longer valid; nil if that is not known.
    ///   - until: when the wait ends; nil if waiting does not help.
    ///   - now: seconds since 1970.
    static func lockout(servedUntil end: Int64?, waitingUntil until: Int64?, at now: Int64) -> Int64? {
        guard let end, end <= max(now, until ?? now) else { return nil }
        return end
    }

    /// What the gate answers.
    /// - Parameters:
    ///   - served: until when what is served is valid.
    ///   - naturalEnd: the first instant at which what is about to be installed is no longer valid; nil for a key.
    init(
        _ gate: InstallationGate, since: Int64?, served: ServedEnd, _ timing: PublicationTiming, naturalEnd: Date?,
        at now: Int64
    ) {
        func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970.rounded(.up)) }
        let cause = gate.cause.map { $0.words.isEmpty ? $0.code.rawValue : $0.words } ?? ""
        var isUrgent = gate.servedEndsFirst
        switch gate.answer {
        case .open: self.init(isReady: true, since: since, until: nil, words: "", now: now)
        case .ending(let end):
            // The end of a certificate that lives for a few days is no alert, nor is one that leaves time for a change.
            let isNear = end < min(naturalEnd ?? .distantFuture, timing.reach(ofChangeBegunAt: OutlookMaker.date(now)))
            isUrgent = isUrgent && (isNear || served.time.map { $0 <= now } ?? false)
            self.init(
                isReady: true, since: since, until: seconds(end),
                words: isUrgent
                    ? "with the next one clients get in until \(ClockGuard.text(seconds(end))): \(cause)" : "",
                now: now)
        case .closed(let opening):
            self.init(
                isReady: false, since: since, until: opening.map(seconds),
                words: "clients would be locked out: \(cause)", now: now)
        case .unknown:
            self.init(isReady: false, since: since, until: nil, words: "nobody can say: \(cause)", now: now)
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
    /// What is about to be installed, by a digest of it; nil if nothing that was announced has it.
    fileprivate func installation(_ digest: Digest) -> InstallationGate.Next? {
        let chain = chains.map(\.chain).first { chain in
            guard let leaf = chain.leaf else { return false }
            return Digest(of: leaf.der) == digest || Digest(of: leaf.subjectPublicKeyInfo) == digest
        }
        if let chain { return .chain(chain.certificates.map { Data($0) }) }
        return keys.first { Digest(of: $0) == digest }.map { .key(Data($0)) }
    }
}
