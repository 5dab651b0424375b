extension Publisher {
    /// What a round did.
    public struct Round: Sendable, Hashable {
        /// The paths of what was signed again.
        public var signed: [String] = []
        /// Why something was not, in words.
        public var problems: [String] = []
    }

    /// Signs again what has to be signed again: trust-server documents, whose clients take none that is older than ten
    /// minutes. It says what the generation says, never beyond the end of its content, and needs no approval.
    /// - Throws: ``ServerError`` of the database. What concerns one app is a problem of the round.
    public func renew() async throws(ServerError) -> Round {
        var round = Round()
        for app in catalog.apps {
            do throws(ServerError) {
                round.signed += try await renew(app)
            } catch {
                round.problems.append("\(app): \(error)")
            }
        }
        if !round.signed.isEmpty { try await follow() }
        return round
    }

    private func renew(_ app: AppName) async throws(ServerError) -> [String] {
        let scene = try await catalog.scene(of: app)
        let (published, canary) = try await catalog.look { [catalog] session, ledger throws(ServerError) in
            let published = try ledger.publication(of: app).map { publication throws(ServerError) in
                try Catalog.permit(for: publication, catalog, session, ledger)
            }
            return (published, try Catalog.canary(of: app, catalog, session, ledger)?.permit)
        }
        var signed: [String] = []
        if let published {
            signed += try await renew(published, scene, [.everybody] + (canary == nil ? [.canary] : []))
        }
        if let canary { signed += try await renew(canary, scene, [.canary]) }
        return signed
    }

    private enum Audience { case everybody, canary }

    private func renew(
        _ permit: SigningPermit, _ scene: AppScene, _ audiences: [Audience]
    ) async throws(ServerError) -> [String] {
        let content = permit.content
        guard let format = content.formats.first(where: { $0.kind == .trustServer }) else { return [] }
        let keys = try keys(for: permit, scene.keys)
        let only = try Content(app: content.app, hosts: content.hosts, formats: [format], end: content.end)
        let maker = DocumentMaker(content: only, keys: keys, publicKeys: scene.publicKeys)
        let documents = try maker.documents(at: scene.now)
        return try await catalog.transact { step throws(ServerError) in
            // Another publication is a newer document already.
            guard step.ledger.generation(of: content.app) == scene.generation else { return [] }
            var signed: [String] = []
            for document in documents {
                for audience in audiences {
                    let path = audience == .canary ? content.canaryPath(of: document.kind) : document.path
                    guard let path, step.ledger.documents[.init(app: content.app, name: path)] != nil else { continue }
                    try Catalog.store(document, at: path, of: content.app, generation: max(1, scene.generation), &step)
                    signed.append(path)
                }
            }
            return signed
        }
    }
}
