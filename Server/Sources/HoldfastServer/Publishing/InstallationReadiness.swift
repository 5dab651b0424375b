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
    /// Why it is not, in words; empty if it is.
    public let words: String
    /// When this was judged, in seconds since 1970.
    public let now: Int64
    /// Whether it waits for vantages that must agree, whatever is published.
    public internal(set) var isHeld = false
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
                found: "\(digest)", remedy: "Announce it first: its pin has to reach clients before it does.")
        }
        let since = scene.publications.last?.published
        guard let inputs = try await OutlookMaker(scene: scene).inputsOfPublished() else {
            return InstallationReadiness(
                isReady: false, since: nil, until: nil, words: "nothing is published yet", now: scene.now)
        }
        let staleness = scene.app.settings.staleness
        if let end = catalog.ledger.unknownDocuments(of: app, staleness: staleness), end >= scene.now {
            return InstallationReadiness(
                isReady: false, since: since, until: end == .max ? nil : end,
                words: "clients may have documents from before a backup was restored, or from another server",
                now: scene.now)
        }
        // By what one vantage sees nothing is judged where several must agree.
        if let words = place.agreement(by: scene.app.settings, at: scene.now).words {
            return InstallationReadiness(
                isReady: false, since: since, until: nil, words: words, now: scene.now, isHeld: true)
        }
        let ends = place.shown.compactMap { $0.chain?.leaf?.notAfter.addingTimeInterval(1) }.min()
        guard let dialed = try? DialedHost(host.name, port: Int(host.port)) else {
            throw ServerError(.invalidValue, of: "host", expected: "a host that can be dialed", found: host.label)
        }
        let gate = try ServerError.translating(.notPublishable, of: "host \(host.label)") {
            () throws(PublishingError) in
            // This server has signed every document of the app that anybody holds.
            try InstallationGate(
                installing: next, on: dialed, judging: inputs, hasEarlierDocuments: false, servedUntil: ends)
        }
        func seconds(_ date: Date?) -> Int64? { date.map { Int64($0.timeIntervalSince1970.rounded(.up)) } }
        let words = gate.cause.map { $0.words.isEmpty ? $0.code.rawValue : $0.words } ?? ""
        func answer(_ isReady: Bool, _ until: Date?, _ words: String) -> InstallationReadiness {
            InstallationReadiness(
                isReady: isReady, since: since, until: seconds(until), words: isReady ? "" : words, now: scene.now)
        }
        return switch gate.answer {
        case .open: answer(true, nil, words)
        case .ending(let end): answer(true, end, words)
        case .closed(let opening): answer(false, opening, "clients would be locked out: \(words)")
        case .unknown: answer(false, nil, "nobody can say: \(words)")
        }
    }
}

extension NextShown {
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
