import Foundation
import Holdfast
package import HoldfastPublishing
import HostMonitoring
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// Runs the gates before anything is signed.
package struct GateRunner {
    package let scene: AppSnapshot
    package let change: Change
    /// The results of clients with the canary's documents in a probe just now; nil if none was made.
    package var look: CanaryLook?

    package init(scene: AppSnapshot, change: Change, look: CanaryLook? = nil) {
        self.scene = scene
        self.change = change
        self.look = look
    }

    /// Runs one gate after the other, until one refuses.
    /// - Returns: their results, and the outlook if a gate needed it.
    package func report() async -> (report: GateReport, outlook: PublicationOutlook?) {
        var results: [GateReport.Result] = []
        var judged: (outlook: PublicationOutlook, losses: LostClients)?
        for gate in Gate.allCases where gate != .readback {
            var refusals: [String]
            switch gate {
            case .validation: refusals = await validation()
            case .base: refusals = base
            case .lint, .replay, .outlook:
                do throws(ServerError) {
                    let found = if let judged { judged } else { try await judge() }
                    judged = found
                    let losses = found.losses
                    refusals =
                        gate == .lint
                        ? lint + losses.dropped
                        : gate == .replay ? losses.refused : losses.lockedOut
                } catch {
                    refusals = [error.description] + clients.goingOn(without: change.content)
                }
            case .signatures: refusals = await RepositoryJudge(scene, change.content).refusals()
            case .canary:
                let span = scene.app.settings.canary
                let repository = span > 0 ? scene.canaryRepository : nil
                refusals = canary + (repository?.refusals(of: change.content, for: span, at: scene.now) ?? [])
            case .readback: refusals = []
            }
            // These gates evaluate no clients, so add the affected clients here.
            if !refusals.isEmpty, [.validation, .base, .canary].contains(gate) {
                refusals += clients.goingOn(without: change.content)
            }
            let isForced = change.forced.contains(gate) && gate.canBeForced
            results.append(GateReport.Result(gate: gate, refusals: refusals, isForced: isForced))
            if results.last?.isPassed != true { break }
        }
        return (GateReport(results: results), judged?.outlook)
    }

    /// Evaluates the change once for all gates that need the outlook. The published content is evaluated only if
    /// clients would be lost.
    private func judge() async throws(ServerError) -> (outlook: PublicationOutlook, losses: LostClients) {
        let planned = scene.planning(change.content)
        let maker = OutlookMaker(scene: planned)
        let outlook = try await maker.outlook(of: change.content, reachingEverybodyIn: wait)
        let losses = LostClients(outlook, planned)
        guard !losses.isEmpty, let inputs = try await maker.inputsOfPublished() else { return (outlook, losses) }
        let present = try ServerError.translating(.notPublishable, of: "outlook of \(scene.app.name)") {
            () throws(PublishingError) in try PublicationOutlook(judging: inputs)
        }
        return (outlook, LostClients(outlook, planned, excusing: present))
    }

    // MARK: The gates

    private var clients: AffectedClients { AffectedClients(scene) }

    /// The number of seconds until all clients get the change, at the earliest; 0 if it skips the canary.
    private var wait: Int64 {
        let span = scene.app.settings.canary(forcing: change.forced)
        guard span > 0, let judge = canaryJudge else { return span }
        return max(0, judge.end - scene.now)
    }

    /// The evaluation of the canary; nil while it does not have the change.
    private var canaryJudge: CanaryJudge? {
        guard let canary = scene.canary, canary.change == change.id else { return nil }
        return CanaryJudge(
            name: "\(change.content.app)-canary", timing: scene.app.settings.timing, began: canary.began,
            probes: canary.probes, look: look, reported: scene.canaryReports?.refusals ?? [],
            knowledge: scene.canaryReports?.words, now: scene.now)
    }

    private func validation() async -> [String] {
        let content = change.content
        let allClients = AffectedClients.words(content)
        var refusals: [String] = []
        if content.hosts.isEmpty {
            refusals.append(
                "the content has no host, so \(allClients) would get no pins. Add a host: "
                    + "`holdfast-server host add \(content.app) HOST --data DIR`")
        }
        if content.formats.isEmpty {
            refusals.append("the content has no format, so \(allClients) would get no documents anymore. Add a format.")
        }
        for host in content.hosts where !isKnown(host) {
            refusals.append(
                "\(host.name):\(host.port) is not monitored, so the server cannot check whether "
                    + "\(allClients) would be locked out. Add the host first: "
                    + "`holdfast-server host add \(content.app) \(host.name) --port \(host.port) --data DIR`")
        }
        for format in content.formats {
            let clients = format.clients(of: content.app)
            switch format.kind {
            case .list where scene.keys.fingerprints == nil, .challenge where scene.keys.fingerprints == nil:
                refusals.append(
                    "\(format.kind.rawValue): the app has no key for fingerprints, so \(clients) would get nothing; "
                        + "make one: `holdfast-server app key \(content.app) --data DIR`")
            case .trustServer where scene.keys.trustServer == nil:
                refusals.append(
                    "trust-server: the app has no key for a trust server, so \(clients) would get nothing; make one: "
                        + "`holdfast-server app key \(content.app) --purpose trust-server --customer "
                        + "\(format.customer ?? "CUSTOMER") --data DIR`")
            default: break
            }
        }
        refusals += scene.foreignPins(in: content)
        refusals += await RepositoryJudge(scene, content).faults()
        do throws(ServerError) {
            let keys = try DocumentKeys(rehearsing: content, at: scene.now)
            _ = try DocumentMaker(content: content, keys: keys, publicKeys: scene.publicKeys).documents(at: scene.now)
        } catch {
            refusals.append("\(allClients) would not get all documents: \(error)")
        }
        return refusals
    }

    private func isKnown(_ host: ContentHost) -> Bool {
        guard let pattern = try? HostPattern(host.name) else { return false }
        return scene.hosts.contains { known in
            known.host.port == host.port
                && ((try? DialedHost(known.host.name, port: Int(known.host.port))).map(pattern.matches) ?? false)
        }
    }

    private var base: [String] {
        change.baseGeneration == scene.generation
            ? []
            : [
                "it was proposed on generation \(change.baseGeneration), and generation \(scene.generation) is published"
            ] + clients.losses(with: change.content)
    }

    private var lint: [String] {
        let (content, timing) = (change.content, scene.app.settings.timing)
        let staleness = timing.staleness.components.seconds
        var refusals = content.missingBackups(at: scene.now).map { missing in
            let label = "\(content.app) \(missing.host.name):\(missing.host.port)"
            let command =
                missing.needsCertificate
                ? "next chain \(label) --chain FILE --from TIME" : "next key \(label) --key FILE"
            return "\(missing.words); announce one that stands ready: `holdfast-server \(command) --data DIR`"
        }
        refusals += dropped
        // A client that requests an update in the very last second gets a document that can still be signed.
        if timing.endsBeforeClientsAsk(content.end + 1, at: scene.now) {
            refusals.append(
                "documents can be signed until \(UTCText.encode(content.end) ?? ""), but clients may go \(staleness) s "
                    + "without an update: \(AffectedClients.words(content)) would get no document if they query later. "
                    + "Propose a later end.")
        }
        if let words = lifetimes { refusals.append(words) }
        for format in content.formats where format.refresh > staleness {
            refusals.append(
                "\(format.clients(of: content.app)) request an update every \(format.refresh) s, but may use a "
                    + "replaced document for only \(staleness) s. Choose a shorter refresh.")
        }
        return refusals
    }

    /// Formats that name certificates must reach every client within a quarter of a certificate's lifetime. A
    /// certificate that a host merely presents stops no change: it must be announced or published.
    private var lifetimes: String? {
        let formats = change.content.formats.filter { !$0.kind.isPinFile }
        let named = Set(change.content.hosts.flatMap(\.certificates).map(\.fingerprint))
        // Announcements that the change leaves out must not stop it.
        let leaves = scene.planning(change.content).hosts.flatMap { host in
            host.next.chains.compactMap { $0.chain.leaf }
                + host.shown.compactMap { $0.chain?.leaf }.filter { named.contains(Digest(of: $0.der)) }
        }
        let lives = leaves.map { Int64($0.notAfter.timeIntervalSince($0.notBefore)) }
        let timing = scene.app.settings.timing(forcing: change.forced)
        guard !formats.isEmpty, let shortest = lives.min(), !timing.fitsQuarter(of: .seconds(shortest)) else {
            return nil
        }
        return
            "staleness and canary take \(QuantityText.span(timing.waitSeconds)), more than a quarter of the shortest certificate's "
            + "lifetime of \(QuantityText.span(shortest)): \(AffectedClients.words(change.content)) would learn of a renewal "
            + "too late. Shorten the app's staleness or canary, pin keys instead, or force lint in an emergency"
    }

    /// The hosts and documents that apps lose with the change. The report must list them before the publication removes
    /// them.
    private var dropped: [String] {
        guard let published = scene.published else { return [] }
        return published.hosts.filter { !change.content.covers($0) }.map {
            "removes host \($0.name):\($0.port), which is published: apps that dial it get no pins for it anymore"
        }
            + published.formatsThatEnd(with: change.content).map {
                "removes \($0.kind.rawValue)\($0.path(of: published.app).map { ", \($0)" } ?? ""): its clients "
                    + "get no more updates, not even a revocation, and continue to use their copy until it expires"
            }
    }

    private var canary: [String] {
        let span = scene.app.settings.canary
        guard span > 0 else { return [] }
        let name = "\(change.content.app)-canary"
        let strangers = clients.strangers(before: scene.now + wait)
        if let other = scene.canary, other.change != change.id {
            return [
                "the canary \(name) has change \(other.change) since \(UTCText.encode(other.began) ?? ""): publish or reject "
                    + "that one first"
            ] + strangers
        }
        guard let judge = canaryJudge else { return ["the canary \(name) has not begun"] + strangers }
        let refusals = judge.refusals
        return refusals.isEmpty ? [] : refusals + strangers
    }
}
