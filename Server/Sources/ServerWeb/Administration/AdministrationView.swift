package import PinChanges
package import PinPublication
import ServerApprovals
package import ServerFoundation
package import ServerModel
package import ServerStore

/// The JSON of the administration listener's responses, and of commands with `--json`.
package enum AdministrationView {
    /// A time, such as `2026-11-24T12:00:00Z`.
    package static func time(_ seconds: Int64) -> CanonicalJSON {
        let known = min(max(seconds, UTCText.range.lowerBound), UTCText.range.upperBound)
        return .text(UTCText.encode(known) ?? "")
    }

    /// A list of texts.
    package static func texts(_ texts: [String]) -> CanonicalJSON { .array(texts.map { .text($0) }) }

    /// An app in a list.
    package static func app(
        _ name: AppName, of catalog: Catalog
    ) async throws(ServerError) -> [String: CanonicalJSON] {
        let app = try await catalog.app(name)
        var members: [String: CanonicalJSON] = [
            "name": .text("\(name)"), "displayName": .text(app.displayName),
            "generation": .integer(catalog.ledger.generation(of: name)),
            "staleness": .integer(app.settings.staleness), "canary": .integer(app.settings.canary),
        ]
        if let publication = catalog.ledger.publication(of: name) {
            members["change"] = .text("\(publication.change)")
            members["published"] = time(publication.time)
        }
        return members
    }

    /// A host with its observations and announcements.
    package static func host(
        _ host: CatalogHost, seen: [Observation], next: AnnouncedCertificates
    ) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "name": .text(host.name), "port": .integer(host.port), "renewal": .text(host.renewal.rawValue),
            "oneKeyKind": .boolean(host.hasOneKeyKind), "seen": .array(seen.map(observation)), "next": self.next(next),
        ]
        if let dial = host.dial { members["dial"] = .text(dial) }
        return members
    }

    private static func observation(_ seen: Observation) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "vantage": .text(seen.vantage), "address": .text(seen.address), "firstSeen": time(seen.firstSeen),
            "lastSeen": time(seen.lastSeen),
        ]
        if let chain = seen.chain { members["certificate"] = .text("\(Digest(of: chain.certificates[0]))") }
        if let failure = seen.failure { members["failure"] = .text(failure) }
        return .object(members)
    }

    /// The announcements; each digest can be used to query a gate.
    package static func next(_ next: AnnouncedCertificates) -> CanonicalJSON {
        .array(
            next.chains.map { chain in
                .object(
                    [
                        "kind": .text("certificate"), "digest": .text("\(Digest(of: chain.chain.certificates[0]))"),
                        "begins": time(chain.begins),
                    ].merging(members(of: chain.origin)) { first, _ in first })
            }
                + next.keys.map { key in
                    .object(
                        ["kind": .text("key"), "digest": .text("\(Digest(of: key))")]
                            .merging(members(of: next.origins[Digest(of: key)])) { first, _ in first })
                })
    }

    private static func members(of origin: AnnouncedCertificates.Origin?) -> [String: CanonicalJSON] {
        guard let origin else { return [:] }
        return ["announcedBy": .text(origin.actor), "announced": time(origin.time)]
    }

    /// Whether a certificate may be installed, for the command with `--json` and the call `askGate`.
    package static func readiness(_ readiness: InstallationReadiness) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "ready": .boolean(readiness.isReady), "installNow": .boolean(readiness.isUrgent),
            "words": .text(readiness.alert ?? readiness.words),
        ]
        if let since = readiness.since { members["since"] = time(since) }
        if let until = readiness.until { members["until"] = time(until) }
        if let end = readiness.servedUntil { members["servedUntil"] = time(end) }
        if let since = readiness.lockedOutSince { members["lockedOutSince"] = time(since) }
        return members
    }

    /// A change in a list.
    package static func summary(_ change: Change, _ state: Change.State) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "id": .text("\(change.id)"), "app": .text("\(change.content.app)"), "state": .text(state.rawValue),
            "baseGeneration": .integer(change.baseGeneration), "reason": .text(change.reason),
            "forced": texts(change.forced.map(\.rawValue).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
            "emergency": .boolean(change.isEmergency), "proposed": time(change.proposed), "end": time(change.end),
            "contentDigest": .text("\(change.content.digest)"),
            "outlookDigest": .text("\(Digest(of: change.outlook))"),
        ]
        if let proposer = change.proposer { members["proposer"] = .text("\(proposer)") }
        if let began = change.canaryBegan { members["canaryBegan"] = time(began) }
        return members
    }

    /// A change with its effects and approvals.
    package static func change(
        _ id: RandomID, by publisher: Publisher
    ) async throws(ServerError) -> [String: CanonicalJSON] {
        let catalog = publisher.catalog
        let change = try await catalog.change(id)
        let app = change.content.app
        let chain = try await catalog.approvers()
        let state = change.state(chain, generation: catalog.ledger.generation(of: app), at: try await catalog.now())
        let scene = try await catalog.scene(of: app)
        var members = summary(change, state)
        members["difference"] = texts(ContentDifference(from: scene.published, to: change.content).lines)
        members["unannounced"] = texts(scene.unannounced(in: change.content))
        members["origins"] = texts(scene.origins(of: change.content))
        members["needed"] = .integer(Int64(chain.head.approvers.number))
        members["approvers"] = .text("\(chain.head.digest)")
        members["approvals"] = .array(change.approvals.map { approval($0, chain.head.approvers) })
        members["silent"] = texts(change.silentApprovers(of: chain).map(\.name))
        members["stillOpen"] = .array(
            try await publisher.otherOpenChanges(than: id).map { other in
                .object([
                    "id": .text("\(other.id)"), "state": .text(other.state.rawValue),
                    "proposed": time(other.proposed), "reason": .text(other.reason),
                ])
            })
        return members
    }

    private static func approval(_ approval: SignedApproval, _ set: ApproverSet) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "identity": .text("\(approval.signature.identity)"),
            "text": .text(String(decoding: approval.text, as: UTF8.self)),
            "signature": .text(Base64.encode(approval.signature.signature)),
        ]
        if let member = set.member(approval.signature.identity) { members["name"] = .text(member.name) }
        if let text = try? ApprovalText(approval.text) { members["verdict"] = .text(text.verdict.rawValue) }
        return .object(members)
    }

    /// The results of the gates.
    package static func report(_ report: GateReport) -> [(String, CanonicalJSON)] {
        [
            ("passed", .boolean(report.isPassed)),
            (
                "gates",
                .array(
                    report.results.map { result in
                        .object([
                            "gate": .text(result.gate.rawValue), "forced": .boolean(result.isForced),
                            "refusals": texts(result.refusals),
                        ])
                    })
            ),
        ]
    }
}
