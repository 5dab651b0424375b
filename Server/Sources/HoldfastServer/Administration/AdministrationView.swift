/// What the administration's listener shows, as JSON.
enum AdministrationView {
    /// A time, such as `2026-11-24T12:00:00Z`.
    static func time(_ seconds: Int64) -> CanonicalJSON {
        let known = min(max(seconds, UTCText.range.lowerBound), UTCText.range.upperBound)
        return .text(UTCText.encode(known) ?? "")
    }

    static func texts(_ texts: [String]) -> CanonicalJSON { .array(texts.map { .text($0) }) }

    static func host(_ host: CatalogHost, seen: [Observation], next: NextShown) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "name": .text(host.name), "port": .integer(host.port), "renewal": .text(host.renewal.rawValue),
            "seen": .array(seen.map(observation)), "next": self.next(next),
        ]
        if let dial = host.dial { members["dial"] = .text(dial) }
        return .object(members)
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

    /// What was announced: each digest is one that a gate can be asked about.
    static func next(_ next: NextShown) -> CanonicalJSON {
        .array(
            next.chains.map { chain in
                .object([
                    "kind": .text("certificate"), "digest": .text("\(Digest(of: chain.chain.certificates[0]))"),
                    "begins": time(chain.begins),
                ])
            } + next.keys.map { .object(["kind": .text("key"), "digest": .text("\(Digest(of: $0))")]) })
    }

    /// A change in a list.
    static func summary(_ change: Change, _ state: Change.State) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "id": .text("\(change.id)"), "app": .text("\(change.content.app)"), "state": .text(state.rawValue),
            "baseGeneration": .integer(change.baseGeneration), "reason": .text(change.reason),
            "forced": texts(change.forced.map(\.rawValue).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
            "proposed": time(change.proposed), "end": time(change.end),
            "contentDigest": .text("\(change.content.digest)"),
            "outlookDigest": .text("\(Digest(of: change.outlook))"),
        ]
        if let proposer = change.proposer { members["proposer"] = .text("\(proposer)") }
        if let began = change.canaryBegan { members["canaryBegan"] = time(began) }
        return members
    }

    static func approval(_ approval: SignedApproval, _ set: ApproverSet) -> CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "identity": .text("\(approval.signature.identity)"),
            "text": .text(String(decoding: approval.text, as: UTF8.self)),
            "signature": .text(Base64.encode(approval.signature.signature)),
        ]
        if let member = set.member(approval.signature.identity) { members["name"] = .text(member.name) }
        if let text = try? ApprovalText(approval.text) { members["verdict"] = .text(text.verdict.rawValue) }
        return .object(members)
    }

    static func report(_ report: GateReport) -> [(String, CanonicalJSON)] {
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
