import Holdfast

/// What people have approved for an app: what is published, and what the canary has.
struct ApprovedContents: Sendable {
    /// What is published; nil if nothing is.
    let published: PublishedHosts?
    /// What the canary has; nil if it has nothing.
    let canary: PublishedHosts?

    /// The keys that people approved or announced for a host's own certificates.
    func keys(of host: CatalogHost, _ next: AnnouncedCertificates) -> Set<Digest> {
        let hosts = [published?.pins(of: host), canary?.pins(of: host)].compactMap(\.self)
        let keys = hosts.flatMap { $0.keys.filter { $0.role == .leaf }.map(\.pin) }
        return Set(keys + next.keys.map { Digest(of: $0) } + next.chains.compactMap(\.chain.leafKey))
    }

    /// The certificates that are published under the very name of a host, or announced for it.
    func certificates(of host: CatalogHost, _ next: AnnouncedCertificates) -> Set<Digest> {
        Set((published?.named(host)?.certificates ?? []).map(\.fingerprint) + next.chains.map(\.chain.fingerprint))
    }
}

extension Catalog {
    /// Reads what people have approved for an app.
    /// - Parameter hosts: finds the hosts of a content by its digest, or reads them.
    static func approvedContents(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger,
        finding hosts: (Digest, () throws(ServerError) -> [ContentHost]) throws(ServerError) -> PublishedHosts = {
            _, read throws(ServerError) in PublishedHosts(try read())
        }
    ) throws(ServerError) -> ApprovedContents {
        var published: PublishedHosts?
        if let publication = ledger.publication(of: app) {
            published = try hosts(publication.content) { () throws(ServerError) in
                try content(of: publication, app, session).hosts
            }
        }
        var canary: PublishedHosts?
        if let id = ledger.canaries[app]?.change, let proposal = ledger.proposals[id] {
            canary = try hosts(proposal.content) { () throws(ServerError) in
                try change(id, session, ledger).content.hosts
            }
        }
        return ApprovedContents(published: published, canary: canary)
    }
}
