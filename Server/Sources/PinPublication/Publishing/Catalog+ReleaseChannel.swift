package import PinChanges
package import ServerApprovals
package import ServerFoundation
package import ServerStore

extension Catalog {
    /// The permit for a release channel, with approvals verified again; nil before its first publication. The canary
    /// has the content of all clients, unless a change holds it.
    /// - Parameter known: the approvers, verified in this transaction; nil to verify them here.
    /// - Throws: ``ServerError`` if the content was not approved when it was published or when its canary began.
    package static func permit(
        for audience: ReleaseChannel, of app: AppName, _ catalog: Catalog, _ session: any StorageSession,
        _ ledger: Ledger,
        approvers known: ApproverChain? = nil
    ) throws(ServerError) -> SigningPermit? {
        if audience == .canary, let canary = ledger.canaries[app] {
            let change = try change(canary.change, session, ledger)
            // An expired canary ends here before the next round records its end.
            if !change.isOver(at: try session.now()) {
                let chain =
                    if let known { known } else {
                        try approverChain(
                            session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
                    }
                return try SigningPermit(
                    change.content, try change.approved(by: chain, at: canary.began),
                    limit: change.canaryLimit(try Self.app(app, session, ledger).settings))
            }
        }
        return try ledger.publication(of: app).map { publication throws(ServerError) in
            try permit(for: publication, catalog, session, ledger, approvers: known)
        }
    }
}
