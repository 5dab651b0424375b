import HoldfastPublishing
package import PinPublication
package import ServerFoundation

extension AdministrationView {
    /// The status of an app, for the command with `--json` and the call `getStatus`.
    package static func standing(_ standing: Publisher.Standing) -> [String: CanonicalJSON] {
        let now = standing.now
        let open: [CanonicalJSON] = standing.open.map { change, state in .object(summary(change, state)) }
        let alerts: [CanonicalJSON] = standing.alerts(at: now).map { alert in
            .object(["kind": .text(alert.kind.rawValue), "words": .text(alert.words)])
        }
        var members: [String: CanonicalJSON] = [
            "name": .text("\(standing.app)"), "generation": .integer(standing.generation),
            "isGood": .boolean(standing.isGood), "alerts": .array(alerts), "read": time(now),
            "losses": texts(standing.losses), "open": .array(open), "plainTextKeys": texts(standing.plainTextKeys),
            "expiredServers": texts(standing.expiredServers), "held": texts(standing.held),
        ]
        if let refusedFrom = standing.refusedFrom { members["refusedFrom"] = time(refusedFrom) }
        if let end = standing.end { members["end"] = time(end) }
        if let deadline = standing.deadline {
            members["publishUntil"] = time(deadline.lastSafe)
            members["publishBecause"] = .text(deadline.words)
            members["advice"] = .text(deadline.advice(at: now))
        }
        if let canary = standing.canary { members["canary"] = .object(self.canary(canary)) }
        if let verdict = standing.verdict { members["verdict"] = .text(verdict.rawValue) }
        return members
    }

    private static func canary(_ canary: Publisher.CanaryStanding) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "change": .text("\(canary.change)"), "began": time(canary.began), "end": time(canary.end),
            "followed": .integer(canary.followed), "refusals": texts(canary.refusals),
            "reported": texts(canary.reported),
        ]
        if let since = canary.heldSince { members["heldSince"] = time(since) }
        return members
    }
}
