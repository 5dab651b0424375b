/// For whom documents are.
enum Audience: Sendable, CaseIterable {
    case everybody
    /// Who has a change before everybody, under paths of its own.
    case canary

    /// The name under which an app of this audience asks; nil if there is no room for it.
    func name(of app: AppName) -> AppName? {
        switch self {
        case .everybody: app
        case .canary: AppName(octets: "\(app)-canary".utf8)
        }
    }
}

extension Content {
    /// Where an audience finds a document; nil for formats that are not one file or are not published, and for a canary
    /// without a name.
    func path(of kind: ContentFormat.Kind, for audience: Audience) -> String? {
        guard let name = audience.name(of: app), let format = formats.first(where: { $0.kind == kind }) else {
            return nil
        }
        guard kind == .trustServer, audience == .canary else { return format.path(of: name) }
        return "trust/\(format.customer ?? "")-canary.json.signed"
    }

    /// Where an audience finds all documents that are files.
    func paths(for audience: Audience) -> [String] { formats.compactMap { path(of: $0.kind, for: audience) } }
}

extension Ledger {
    /// The digest of the content that an audience has; nil before the first.
    func content(for audience: Audience, of app: AppName) -> Digest? {
        let held = audience == .canary ? canaries[app].flatMap { proposals[$0.change]?.content } : nil
        return held ?? publication(of: app)?.content
    }
}

extension Catalog {
    /// What was approved for an audience, verified again; nil before the first publication, and for the canary before it
    /// had anything. The canary has what everybody has, unless a change holds it.
    /// - Parameter known: the approvers, verified in this transaction; nil to verify them here.
    /// - Throws: ``ServerError`` if it was not approved when it was published or when its canary began.
    static func permit(
        for audience: Audience, of app: AppName, _ catalog: Catalog, _ session: any StorageSession, _ ledger: Ledger,
        approvers known: ApproverChain? = nil
    ) throws(ServerError) -> SigningPermit? {
        if audience == .canary, let canary = ledger.canaries[app] {
            let change = try change(canary.change, session, ledger)
            // Until the next round says in the audit that it is over.
            if !change.isOver(at: try session.now()) {
                let chain =
                    if let known { known } else {
                        try approverChain(
                            session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
                    }
                return try SigningPermit(change.content, try change.approved(by: chain, at: canary.began))
            }
        }
        return try ledger.publication(of: app).map { publication throws(ServerError) in
            try permit(for: publication, catalog, session, ledger, approvers: known)
        }
    }
}
