import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerHTTP
import ServerModel
import ServerStore

/// Approvals with passkeys: of a change, and of the statement that names the passkeys. The signed text is the same as
/// with a key file, by its digest; the complete evidence is stored.
extension SignInResponder {
    func beginVerdict(
        _ verdict: ApprovalText.Verdict, _ id: RandomID, of app: AppName, _ body: inout SignInBody
    ) async throws(AdministrationError) -> ListenerAnswer {
        try reading { [body] () throws(ServerError) in try body.finish() }
        let (text, passkeys) = try await refusing { [catalog] () async throws(ServerError) in
            let change = try await catalog.standing(of: id, in: app)
            let chain = try await catalog.approvers()
            let end = change.approvalEnd(with: try await catalog.app(app).settings)
            return (
                try ApprovalText(verdict, change.subject(for: chain), end: end).bytes,
                try await catalog.passkeys(in: chain.head.approvers).filter {
                    $0.isFor(app) && chain.head.approvers.member($0.key.identity)?.approves(app) == true
                }
            )
        }
        return asking(.approval(of: text), ["text": .text(text), "allow": Self.ids(passkeys)])
    }

    func finishVerdict(
        _ verdict: ApprovalText.Verdict, _ id: RandomID, of app: AppName, _ body: inout SignInBody
    ) async throws(AdministrationError) -> ListenerAnswer {
        let (text, answer) = try reading { () throws(ServerError) in
            let read = (try body.text("text"), try body.assertion())
            try body.finish()
            return read
        }
        let state = try await refusing { [catalog, publisher] () async throws(ServerError) in
            _ = try await catalog.standing(of: id, in: app)
            let approval = try ApprovalText(text)
            guard approval.subject.change == id, approval.verdict == verdict else {
                throw ServerError(
                    .notForThis, of: "text", expected: "to \(verdict.rawValue) change \(id)", found: "something else")
            }
            let evidence = try await catalog.evidence(answer.assertion, of: answer.credential)
            try await catalog.add(SignedApproval(text: text, signature: ApproverSignature(evidence)))
            // The canary may have the rejected change. If the write fails, it is tried again in the next round.
            if verdict == .reject { _ = await publisher.followed() }
            return try await catalog.standing(of: id).state(
                catalog.approvers(), generation: catalog.ledger.generation(of: app), at: catalog.now())
        }
        // The script reloads the page, which shows the rest.
        return AdministrationResponder.json([("change", .text("\(id)")), ("state", .text(state.rawValue))])
    }

    func beginStatement(_ body: inout SignInBody) async throws(AdministrationError) -> ListenerAnswer {
        let text = try reading { () throws(ServerError) in
            let text = try body.text("statement")
            try body.finish()
            return text
        }
        let passkeys = try await refusing { () async throws(ServerError) in
            try await catalog.passkeys(in: try await statement(text).approvers)
        }
        return asking(.approval(of: text), ["text": .text(text), "allow": Self.ids(passkeys)])
    }

    /// The signature is not stored in the database: `approvers replace` takes it together with those of key files.
    func finishStatement(_ body: inout SignInBody) async throws(AdministrationError) -> ListenerAnswer {
        let (text, answer) = try reading { () throws(ServerError) in
            let read = (try body.text("statement"), try body.assertion())
            try body.finish()
            return read
        }
        let signature = try await refusing { () async throws(ServerError) in
            _ = try await statement(text)
            let evidence = try await catalog.evidence(answer.assertion, of: answer.credential)
            try evidence.verified(over: text, at: party)
            return ApproverSignature(evidence)
        }
        return AdministrationResponder.json([("signature", .text(signature.fileContent))])
    }

    /// Parses the next statement of approvers, and requires that passkeys of this server sign it.
    private func statement(_ text: [UInt8]) async throws(ServerError) -> ApproverStatement {
        let statement = try ApproverStatement(text)
        let head = try await catalog.approvers().head
        guard statement.server == head.server, statement.previous == head.digest,
            statement.approvers.passkeys?.party == party
        else {
            throw ServerError(
                .notForThis, of: "statement",
                expected: "the next statement after the current one, with passkeys of \(party.origin)",
                found: "another", remedy: "Write it again with approvers propose.")
        }
        return statement
    }

    private static func ids(_ passkeys: [RegisteredPasskey]) -> CanonicalJSON {
        .array(passkeys.map { .text(Base64URL.encode($0.credential.id)) })
    }
}

extension Catalog {
    /// A change of an app.
    fileprivate func standing(of id: RandomID, in app: AppName) async throws(ServerError) -> ChangeStatus {
        let change = try await standing(of: id)
        guard change.app == app else {
            throw ServerError(.notFound, of: "change", expected: "a change of \(app)", found: "\(id)")
        }
        return change
    }

    /// The registered passkeys of a set of approvers.
    /// - Throws: ``ServerError`` `notFound` if there are none.
    fileprivate func passkeys(in set: ApproverSet) async throws(ServerError) -> [RegisteredPasskey] {
        let passkeys = try await passkeys().filter { passkey in
            passkey.credential.purpose == .approval && set.member(passkey.credential.key.identity)?.isPasskey == true
        }
        guard !passkeys.isEmpty else {
            throw ServerError(
                .notFound, of: "passkey", expected: "an approver with a passkey that was registered here",
                found: "none",
                remedy: "Approve with holdfast-server approve, or have the approvers name a passkey.")
        }
        return passkeys
    }

    /// The evidence that a registered passkey signed.
    /// - Throws: ``ServerError`` `notFound` for a passkey that is not registered for approvals.
    fileprivate func evidence(
        _ assertion: PasskeyAssertion, of credential: [UInt8]
    ) async throws(ServerError) -> PasskeyEvidence {
        guard let passkey = try await passkeys().first(where: { $0.credential.id == credential }),
            passkey.credential.purpose == .approval
        else {
            throw ServerError(
                .notFound, of: "passkey", expected: "a passkey for approvals that is registered here", found: "another",
                remedy: "Use the passkey that was registered here for approvals.")
        }
        return PasskeyEvidence(assertion, by: passkey.credential.key)
    }
}
