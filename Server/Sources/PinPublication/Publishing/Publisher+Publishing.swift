import Foundation
import HoldfastPublishing
package import PinChanges
import ServerApprovals
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// Publishes an approved change: runs the gates again, verifies the approvals, signs, replays the exact bytes with
    /// clients, and writes them into history in one transaction. The canary gets the change first, unless the gate
    /// `canary` is forced. Another call publishes it to all clients, once clients have connected with it for the
    /// canary's time.
    /// - Throws: ``ServerError``: `gate` for a refusal; `notApproved`, `rejected` and others of the approvals;
    ///   `outOfTurn` for a change that has ended; `sealedKey` and others of the keys. Nothing is published then. Later
    ///   failures are problems of the outcome, and are tried again.
    @discardableResult
    package func publish(_ id: RandomID) async throws(ServerError) -> Outcome {
        // Release the canary from an expired change.
        _ = try await settle(try await catalog.change(id).content.app)
        let change = try await catalog.change(id)
        var scene = try await catalog.scene(of: change.content.app, for: change.content)
        try await requireOpen(change, scene)
        // Check before the work, and again right before signing.
        _ = try await permit(for: change)
        let isHeld = scene.canary?.change == id && !change.forced.contains(.canary)
        let look = isHeld ? try await probeCanary(of: change.content.app, isDeciding: true) : nil
        // The probe is recorded in the audit, so read again.
        if isHeld { scene = try await catalog.scene(of: change.content.app, for: change.content) }
        let (report, outlook) = await GateRunner(scene: scene, change: change, look: look).report()
        if let outlook { try await requireNoWorse(outlook, than: change) }
        let beginsCanary = report.refusal?.gate == .canary && scene.canary == nil
        if !beginsCanary { try report.requirePassed(change) }
        let permit = try await permit(
            for: change, limit: beginsCanary ? change.canaryLimit(scene.app.settings) : .max)
        let keys = try keys(for: permit, scene.keys)
        let documents = try await documents(for: permit, scene, keys)
        guard beginsCanary else {
            let repository = try await repository(for: permit, scene, keys)
            let generation = try await commit(documents, repository, permit, change, scene)
            return Outcome(.published(generation: generation), problems: repository.problems + (await followed()))
        }
        try await beginCanary(documents, permit, change, scene.keys)
        let problems = await followed() + firstLook(of: scene.app.name)
        return Outcome(.canary(until: scene.app.settings.timing.canaryEnd(of: scene.now)), problems: problems)
    }

    /// Updates all outputs: the canary's documents, the snapshot, then the folder. An app whose rows cannot be read
    /// stays as it was, and a folder that cannot be written is tried again later. Neither blocks other apps.
    /// - Returns: the problems, as text.
    /// - Throws: ``ServerError`` of the database.
    @discardableResult
    package func follow() async throws(ServerError) -> [String] {
        var problems: [String] = []
        for app in catalog.apps {
            do throws(ServerError) { _ = try await settle(app) } catch { problems.append("\(app): \(error)") }
        }
        problems += try await refresh().problems
        return problems + (try await deliver().problems)
    }

    /// Updates all outputs after a commit. An error is only a problem, because the commit remains.
    package func followed() async -> [String] {
        do throws(ServerError) { return try await follow() } catch { return ["\(error)"] }
    }

    /// Probes hosts with the canary's new documents. The canary's time counts from the first success.
    private func firstLook(of app: AppName) async -> [String] {
        do throws(ServerError) { return try await probeCanary(of: app)?.refusals ?? [] } catch { return ["\(error)"] }
    }

    // MARK: Before signing

    func requireOpen(_ change: Change, _ scene: AppSnapshot) async throws(ServerError) {
        if let ended = change.ended {
            throw ServerError(
                ended == .rejected ? .rejected : .outOfTurn, of: "change \(change.id)", expected: "an open change",
                found: "one that was \(ended.rawValue)",
                remedy: ended == .published
                    ? "Nothing is left to do. `holdfast-server status --data DIR` shows the status of the app."
                    : ended == .rejected ? nil : Self.proposeAgain(change))
        }
        let reason: String
        if change.baseGeneration != scene.generation {
            reason = "generation \(scene.generation) was published meanwhile"
        } else if scene.now > change.standing.lastPublication {
            reason = "its seven days, and the time for which it was approved, are over"
        } else {
            return
        }
        try await catalog.lapse(change.id, because: reason)
        throw ServerError(
            .outOfTurn, of: "change \(change.id)", expected: "an open change", found: "one that lapsed: \(reason)",
            remedy: Self.proposeAgain(change))
    }

    private static func proposeAgain(_ change: Change) -> String {
        "Propose it again, so that people review it again: `holdfast-server change propose \(change.content.app) "
            + "--again \(change.id) --reason WHY --no-proposer --data DIR`."
    }

    /// Approvers agreed to the outlook that they saw. If more clients would be locked out now, they must review it
    /// again.
    private func requireNoWorse(_ outlook: PublicationOutlook, than change: Change) async throws(ServerError) {
        let worse = OutlookSeverity(outlook).worse(than: try OutlookSeverity(json: change.outlook))
        guard !worse.isEmpty else { return }
        try await catalog.lapse(change.id, because: "its outlook got worse")
        throw ServerError(
            .gate, of: "change \(change.id)", expected: "an outlook as good as the one that was approved",
            found: worse.prefix(8).joined(separator: "; "), remedy: Self.proposeAgain(change))
    }

    package func permit(for change: Change, limit: Int64 = .max) async throws(ServerError) -> SigningPermit {
        let chain = try await catalog.approvers()
        let now = try await catalog.look { session, _ throws(ServerError) in try session.now() }
        return try SigningPermit(change.content, try change.approved(by: chain, at: now), limit: limit)
    }

    // MARK: Signing

    package static var noSecret: ServerError {
        ServerError(
            .secretFile, expected: "the secret", found: "none",
            remedy: "Put the file of the secret back that init wrote; nothing was signed.")
    }

    package func keys(for permit: SigningPermit, _ sealed: SealedKeys) throws(ServerError) -> DocumentKeys {
        return try DocumentKeys(opening: sealed, with: secret, for: permit)
    }

    private func documents(
        for permit: SigningPermit, _ scene: AppSnapshot, _ keys: DocumentKeys
    ) async throws(ServerError) -> [SignedDocument] {
        let maker = DocumentMaker(
            content: permit.content, keys: keys, publicKeys: scene.publicKeys, limit: permit.limit)
        let documents = try await maker.signedDocuments(at: scene.now)
        // For challenges, evaluate one sample answer, which a program may sign.
        let judged = try await ProgramThreads.run { () throws(ServerError) in
            try OutlookMaker(scene: scene).documents(
                of: permit.content, keys, published: scene.now, replaced: nil, signed: documents)
        }
        try requireAccepted(judged, permit, scene)
        return documents
    }

    /// The files of the repository to publish; empty if clients have all of them.
    package func repository(
        for permit: SigningPermit, _ scene: AppSnapshot, _ keys: DocumentKeys
    ) async throws(ServerError) -> MadeRepository {
        let (content, files) = (permit.content, scene.repository)
        guard content.repository != nil else { return .nothing }
        let state = try await Self.state(of: files)
        let taken = try await files.taken()
        guard !state.hasNoDraft || !taken.isEmpty else { return .nothing }
        let publication = try await files.publication(
            of: state, content, keys: keys.repository, includingDrafts: true, at: scene.now)
        guard let root = publication.state.live?.roots.first, let bundle = publication.objects.last else {
            return .nothing
        }
        let (first, bytes) = (root.data, bundle.data)
        let judged = try await ProgramThreads.run { () throws(ServerError) in
            try OutlookMaker(scene: scene).documents(
                of: content, keys, published: scene.now, replaced: nil, signed: [],
                repository: .init(root: first, bytes: bytes, signedAt: scene.now))
        }
        try requireAccepted(judged, permit, scene)
        return MadeRepository(publication, content, scene, taken: taken)
    }

    /// The gates evaluated other signatures. Clients must accept these.
    private func requireAccepted(
        _ documents: [PublicationOutlook.Document], _ permit: SigningPermit, _ scene: AppSnapshot
    ) throws(ServerError) {
        let losses = LostClients(try OutlookMaker(scene: scene).outlook(documents), scene)
        guard let refusal = losses.refused.first, !permit.approved.subject.forced.contains(.replay) else { return }
        throw ServerError(
            .gate, of: "app \(scene.app.name)", expected: "documents that clients accept", found: refusal)
    }

    // MARK: Writing

    private func commit(
        _ documents: [SignedDocument], _ repository: MadeRepository, _ permit: SigningPermit, _ change: Change,
        _ scene: AppSnapshot
    ) async throws(ServerError) -> Int64 {
        let app = permit.content.app
        return try await catalog.transact { [catalog] step throws(ServerError) in
            try catalog.requireSame(permit, change, step)
            try Catalog.requireKeys(scene.keys, step)
            try Self.requireFollowed(change, scene, step)
            if !repository.documents.isEmpty { try Catalog.requireUnchanged(scene.repository.base, of: app, step) }
            let generation = step.ledger.generation(of: app) + 1
            // An older program that proposed the change, next to this one, did not store the keys.
            try Catalog.keepKeys(of: permit.content, step.session, step.ledger)
            try step.record(
                .published, by: permit.approved.approvers.first.map { "\($0)" } ?? "",
                [
                    "app": "\(app)", "change": "\(change.id)", "generation": "\(generation)",
                    "content": "\(permit.content.digest)", "approvers": "\(permit.approved.subject.approvers)",
                    "forced": Catalog.text(of: change.forced),
                ])
            for document in documents {
                try Catalog.store(document, at: document.path, of: app, generation: generation, &step)
            }
            try Catalog.store(repository, leaving: .empty, of: app, generation: generation, &step)
            try Self.storeCanary(documents, permit.content, generation: generation, &step)
            // Withdraw the documents that only the previous content had.
            _ = try Settlement.carryOut(for: app, &step)
            try step.session.run(
                "UPDATE app SET generation = $2, change_id = $3 WHERE name = $1",
                [.text("\(app)"), .integer(generation), .bytes(change.id.bytes)])
            try step.session.run(
                "UPDATE change SET state = 'published' WHERE id = $1", [.bytes(change.id.bytes)])
            return generation
        }
    }

    /// Another machine may have recorded meanwhile that clients of the canary refuse the change.
    private static func requireFollowed(
        _ change: Change, _ scene: AppSnapshot, _ step: Catalog.Step
    ) throws(ServerError) {
        guard scene.canary?.change == change.id, !change.forced.contains(.canary) else { return }
        let canary = step.ledger.canaries[scene.app.name]
        guard let canary, canary.change == change.id, canary.began == scene.canary?.began,
            canary.probes.refusals.isEmpty
        else {
            throw ServerError(
                .outOfTurn, of: "change \(change.id)", expected: "a canary as it was when the gates were asked",
                found: canary?.probes.refusals.first ?? "another", remedy: "Publish again: the gates run again.")
        }
    }

    private func beginCanary(
        _ documents: [SignedDocument], _ permit: SigningPermit, _ change: Change, _ keys: SealedKeys
    ) async throws(ServerError) {
        try await catalog.transact { [catalog] step throws(ServerError) in
            try catalog.requireSame(permit, change, step)
            try Catalog.requireKeys(keys, step)
            if let other = step.ledger.canaries[permit.content.app] {
                throw ServerError(
                    .outOfTurn, of: "change \(change.id)", expected: "a canary that no change has",
                    found: "one that change \(other.change) has", remedy: "Publish or reject that one first.")
            }
            try step.record(.canary, by: "server", ["app": "\(permit.content.app)", "change": "\(change.id)"])
            let generation = step.ledger.generation(of: permit.content.app) + 1
            try Self.storeCanary(documents, permit.content, generation: generation, &step)
            _ = try Settlement.carryOut(for: permit.content.app, &step)
        }
    }

    /// Stores the same bytes for the canary, under its own paths.
    static func storeCanary(
        _ documents: [SignedDocument], _ content: Content, generation: Int64, _ step: inout Catalog.Step
    ) throws(ServerError) {
        for document in documents {
            guard let path = content.path(of: document.kind, for: .canary) else { continue }
            try Catalog.store(document, at: path, of: content.app, generation: generation, &step)
        }
    }
}

extension Catalog {
    /// Repeats, in the transaction, the checks that were made before it.
    fileprivate func requireSame(
        _ permit: SigningPermit, _ change: Change, _ step: Step
    ) throws(ServerError) {
        let current = try Self.change(change.id, step.session, step.ledger)
        let chain = try Self.approverChain(
            step.session, server: server, genesis: genesis, known: step.ledger.approvers)
        guard current.ended == nil, current.baseGeneration == step.ledger.generation(of: permit.content.app),
            step.now <= current.standing.lastPublication
        else {
            throw ServerError(
                .outOfTurn, of: "change \(change.id)", expected: "an open change", found: "one that has ended")
        }
        guard try current.approved(by: chain, at: step.now).subject == permit.approved.subject else {
            throw ServerError(
                .notForThis, of: "change \(change.id)", expected: "what was signed", found: "something else")
        }
    }
}
