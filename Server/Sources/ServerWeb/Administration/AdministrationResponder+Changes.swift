import NIOHTTP1
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerHTTP
import ServerModel
import ServerStore

/// The calls that propose, show, approve and publish changes.
extension AdministrationResponder {
    func listChanges(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.queriedApp()
        try takeTurn(call)
        let changes = try await refusing { [catalog] () async throws(ServerError) in
            if let app { _ = try await catalog.app(app) }
            let chain = try await catalog.approvers()
            let now = try await catalog.now()
            var changes: [CanonicalJSON] = []
            for name in catalog.apps where call.grant?.isFor(name) == true && (app == nil || app == name) {
                let generation = catalog.ledger.generation(of: name)
                for change in try await catalog.changes(of: name) {
                    let state = change.state(chain, generation: generation, at: now)
                    changes.append(.object(AdministrationView.summary(change, state)))
                }
            }
            return changes
        }
        return Self.json([("changes", .array(changes))])
    }

    func propose(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        var fields = try call.fields()
        let body = try await refusing { () async throws(ServerError) in try ProposalBody(&fields) }
        try call.require(body.app)
        try takeTurn(call)
        let id = try await refusing { [catalog, publisher] () async throws(ServerError) in
            if let proposer = body.proposer {
                let set = try await catalog.approvers().head.approvers
                guard set.member(proposer) != nil else {
                    throw ServerError(
                        .invalidValue, of: "proposer",
                        expected: "the digest of an approver's key, or \"nobody\" if the proposer is no approver",
                        found: "another digest")
                }
            }
            _ = try await catalog.app(body.app)
            try await catalog.requireFewOpenChanges(of: body.app)
            let content = try await catalog.draft(of: body.app, body.wishes)
            var generator = SystemRandomNumberGenerator()
            return try await publisher.propose(
                content, forcing: body.forced, proposer: body.proposer, reason: body.reason, by: call.actor,
                using: &generator
            ).change
        }
        return try await show(id, .created, headers: [("Location", "/v1/changes/\(id)")])
    }

    /// The change of the path, if the token is for its app. Otherwise it is reported like one that does not exist.
    func change(of call: AdministrationCall) async throws(AdministrationError) -> Change {
        let id = try call.change()
        let change = try await refusing { [catalog] () async throws(ServerError) in try await catalog.change(id) }
        guard call.grant?.isFor(change.content.app) == true else {
            throw AdministrationError(Catalog.missingChange(id))
        }
        return change
    }

    func getChange(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        try await show(try await change(of: call).id, .ok)
    }

    private func show(
        _ id: RandomID, _ status: HTTPResponseStatus, headers: [(name: String, value: String)] = []
    ) async throws(AdministrationError) -> ListenerAnswer {
        let members = try await refusing { [publisher] () async throws(ServerError) in
            try await AdministrationView.change(id, by: publisher)
        }
        return Self.json(members.map { ($0.key, $0.value) }, status, headers: headers)
    }

    func askGates(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let id = try await change(of: call).id
        try takeTurn(call)
        let report = try await refusing { [publisher] () async throws(ServerError) in
            try await publisher.rehearse(id)
        }
        return Self.json(AdministrationView.report(report))
    }

    /// The signature authorizes this, not the token, which only keeps strangers out.
    func add(
        _ verdict: ApprovalText.Verdict, _ call: AdministrationCall
    ) async throws(AdministrationError) -> ListenerAnswer {
        let id = try await change(of: call).id
        var fields = try call.fields()
        try await refusing { [catalog, publisher] () async throws(ServerError) in
            let body = try ApprovalBody(&fields)
            guard body.text.subject.change == id, body.text.verdict == verdict else {
                throw ServerError(
                    .notForThis, of: "text", expected: "to \(verdict.rawValue) change \(id)", found: "something else")
            }
            try await catalog.add(body.signed)
            // The canary may have the rejected change. If the write fails, it is tried again in the next round.
            if verdict == .reject { _ = await publisher.followed() }
        }
        return try await show(id, .ok)
    }

    func publish(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let id = try await change(of: call).id
        try takeTurn(call)
        let outcome = try await refusing { [publisher] () async throws(ServerError) in try await publisher.publish(id) }
        var members: [(String, CanonicalJSON)] = [("problems", AdministrationView.texts(outcome.problems))]
        switch outcome.stage {
        case .published(let generation):
            members += [("outcome", .text("published")), ("generation", .integer(generation))]
        case .canary(let until):
            members += [("outcome", .text("canary")), ("until", AdministrationView.time(until))]
        }
        return Self.json(members)
    }
}
