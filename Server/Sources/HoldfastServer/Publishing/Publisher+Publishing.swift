import Foundation
import HoldfastPublishing

extension Publisher {
    /// Publishes a change that was approved: asks the gates afresh, verifies the approvals, signs, has clients replay the
    /// very bytes, and writes them into history at once. The canary gets it first, unless it is forced, and
    /// everybody once clients have got in with it for the canary's time.
    /// - Throws: ``ServerError``: `gate` for one that refuses; `notApproved`, `rejected` and others of the approvals;
    ///   `outOfTurn` for a change that has ended; `sealedKey` and others of the keys. Nothing is published then. What fails
    ///   afterwards is a problem of the outcome, and is tried again.
    @discardableResult
    public func publish(_ id: RandomID) async throws(ServerError) -> Outcome {
        // Whatever the canary had before is over.
        _ = try await settle(try await catalog.change(id).content.app)
        let change = try await catalog.change(id)
        var scene = try await catalog.scene(of: change.content.app, for: change.content)
        try await requireOpen(change, scene)
        // Before the work, and once more when it is about to be signed.
        _ = try await permit(for: change)
        let isHeld = scene.canary?.change == id && !change.forced.contains(.canary)
        let look = isHeld ? try await probeCanary(of: change.content.app, isDeciding: true) : nil
        // What clients met just now is in the audit.
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

    /// Brings what clients get to the newest state: the canary's documents, the snapshot, then the folder. An app whose
    /// rows cannot be read stays as it was, and a folder that cannot be written is tried again later: neither holds up
    /// anybody else.
    /// - Returns: what went wrong, in words.
    /// - Throws: ``ServerError`` of the database.
    @discardableResult
    public func follow() async throws(ServerError) -> [String] {
        var problems: [String] = []
        for app in catalog.apps {
            do throws(ServerError) { _ = try await settle(app) } catch { problems.append("\(app): \(error)") }
        }
        problems += try await refresh().problems
        return problems + (try await deliver().problems)
    }

    /// Follows what is written already, whatever becomes of it.
    func followed() async -> [String] {
        do throws(ServerError) { return try await follow() } catch { return ["\(error)"] }
    }

    /// Has clients look with what the canary has just got: its time counts from the first time that they get in.
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
                    ? "Nothing is left to do: `holdfast-server status --data DIR` shows how the app stands."
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
        "Propose it again, for people to look at afresh: `holdfast-server change propose \(change.content.app) "
            + "--again \(change.id) --reason WHY --no-proposer --data DIR`."
    }

    /// Approvers agreed to what they saw. If more clients would be lost now, they have to look again.
    private func requireNoWorse(_ outlook: PublicationOutlook, than change: Change) async throws(ServerError) {
        let worse = OutlookSeverity(outlook).worse(than: try OutlookSeverity(json: change.outlook))
        guard !worse.isEmpty else { return }
        try await catalog.lapse(change.id, because: "its outlook got worse")
        throw ServerError(
            .gate, of: "change \(change.id)", expected: "an outlook as good as the one that was approved",
            found: worse.prefix(8).joined(separator: "; "), remedy: Self.proposeAgain(change))
    }

    func permit(for change: Change, limit: Int64 = .max) async throws(ServerError) -> SigningPermit {
        let chain = try await catalog.approvers()
        let now = try await catalog.look { session, _ throws(ServerError) in try session.now() }
        return try SigningPermit(change.content, try change.approved(by: chain, at: now), limit: limit)
    }

    // MARK: Signing

    static var noSecret: ServerError {
        ServerError(
            .secretFile, expected: "the secret", found: "none",
            remedy: "Put the file of the secret back that init wrote; nothing was signed.")
    }

    func keys(for permit: SigningPermit, _ sealed: SealedKeys) throws(ServerError) -> DocumentKeys {
        return try DocumentKeys(opening: sealed, with: secret, for: permit)
    }

    private func documents(
        for permit: SigningPermit, _ scene: AppSnapshot, _ keys: DocumentKeys
    ) async throws(ServerError) -> [SignedDocument] {
        let maker = DocumentMaker(
            content: permit.content, keys: keys, publicKeys: scene.publicKeys, limit: permit.limit)
        let documents = try await maker.signedDocuments(at: scene.now)
        // Of challenges the answer to one is judged, which a program may sign.
        let judged = try await ProgramThreads.run { () throws(ServerError) in
            try OutlookMaker(scene: scene).documents(
                of: permit.content, keys, published: scene.now, replaced: nil, signed: documents)
        }
        try requireAccepted(judged, permit, scene)
        return documents
    }

    /// What is published of the repository; nothing if clients have all of it.
    func repository(
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

    /// Gates were asked about other signatures; clients must take these.
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
            // An older program that proposed the change, beside this one, did not keep them.
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
            // What the content before had and this one has not.
            _ = try Settlement.carryOut(for: app, &step)
            try step.session.run(
                "UPDATE app SET generation = $2, change_id = $3 WHERE name = $1",
                [.text("\(app)"), .integer(generation), .bytes(change.id.bytes)])
            try step.session.run(
                "UPDATE change SET state = 'published' WHERE id = $1", [.bytes(change.id.bytes)])
            return generation
        }
    }

    /// Another machine may have seen since that clients of the canary refuse the change.
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
                found: canary?.probes.refusals.first ?? "another", remedy: "Publish again: the gates are asked afresh.")
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

    /// The canary gets the same bytes under paths of its own.
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
    /// Everything that was verified before the transaction is verified in it.
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
