import Foundation
import Holdfast
import HoldfastPublishing

/// Asks the gates before anything is signed.
struct GateRunner {
    let scene: AppSnapshot
    let change: Change
    /// What clients with the canary's documents met just now; nil if nobody looked.
    var look: CanaryLook?

    /// Asks one gate after the other, until one refuses.
    /// - Returns: what they said, and the outlook as far as it was reached.
    func report() async -> (report: GateReport, outlook: PublicationOutlook?) {
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
            // No client was asked there, so they are named here.
            if !refusals.isEmpty, [.validation, .base, .canary].contains(gate) {
                refusals += clients.goingOn(without: change.content)
            }
            let isForced = change.forced.contains(gate) && gate.canBeForced
            results.append(GateReport.Result(gate: gate, refusals: refusals, isForced: isForced))
            if results.last?.isPassed != true { break }
        }
        return (GateReport(results: results), judged?.outlook)
    }

    /// Judges the change once for all gates that ask clients. What is published is judged only if clients would be lost.
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

    /// After how many seconds everybody gets the change, at the earliest; 0 if it skips the canary.
    private var wait: Int64 {
        let span = scene.app.settings.canary(forcing: change.forced)
        guard span > 0, let judge = canaryJudge else { return span }
        return max(0, judge.end - scene.now)
    }

    /// What judges the canary; nil while it does not have the change.
    private var canaryJudge: CanaryJudge? {
        guard let canary = scene.canary, canary.change == change.id else { return nil }
        return CanaryJudge(
            name: "\(change.content.app)-canary", timing: scene.app.settings.timing, began: canary.began,
            probes: canary.probes, look: look, reported: scene.canaryReports?.refusals ?? [],
            knowledge: scene.canaryReports?.words, now: scene.now)
    }

    private func validation() async -> [String] {
        let content = change.content
        let everybody = AffectedClients.words(content)
        var refusals: [String] = []
        if content.hosts.isEmpty {
            refusals.append(
                "the content has no host: \(everybody) would find no pins in it; add one: "
                    + "`holdfast-server host add \(content.app) HOST --data DIR`")
        }
        if content.formats.isEmpty {
            refusals.append("the content publishes no format: \(everybody) would get nothing anymore")
        }
        for host in content.hosts where !isKnown(host) {
            refusals.append(
                "\(host.name):\(host.port) is no host of the catalog, so nobody knows what it shows, and whether "
                    + "\(everybody) get in there; add it: `holdfast-server host add \(content.app) \(host.name) "
                    + "--port \(host.port) --data DIR`")
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
            refusals.append("\(everybody) would not get all of it: \(error)")
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
        // A client that asks in the very last second gets a document that can still be signed.
        if timing.endsBeforeClientsAsk(content.end + 1, at: scene.now) {
            refusals.append(
                "documents can be signed until \(UTCText.encode(content.end) ?? ""), and clients may not ask for \(staleness) s: "
                    + "\(AffectedClients.words(content)) get nothing if they begin later")
        }
        if let words = lifetimes { refusals.append(words) }
        for format in content.formats where format.refresh > staleness {
            refusals.append(
                "\(format.clients(of: content.app)) ask every \(format.refresh) s, later than the \(staleness) s for which "
                    + "they are expected to go on with a replaced document")
        }
        return refusals
    }

    /// Formats that name certificates have to reach every client within a quarter of a certificate's lifetime. A certificate
    /// that a host merely presents stops nothing: people have to have announced it, or to publish it.
    private var lifetimes: String? {
        let formats = change.content.formats.filter { !$0.kind.isPinFile }
        let named = Set(change.content.hosts.flatMap(\.certificates).map(\.fingerprint))
        // An announcement that the change leaves out must not stop it.
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

    /// What apps ask for and get no more. It goes away with the publication, so it has to be said before.
    private var dropped: [String] {
        guard let published = scene.published else { return [] }
        return published.hosts.filter { !change.content.covers($0) }.map {
            "drops host \($0.name):\($0.port), which is published: apps that dial it get no pins for it anymore"
        }
            + published.formatsThatEnd(with: change.content).map {
                "drops \($0.kind.rawValue)\($0.path(of: published.app).map { ", \($0)" } ?? ""): its clients get nothing "
                    + "anymore, not even that a pin is revoked, and go on with what they have until that ends"
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
