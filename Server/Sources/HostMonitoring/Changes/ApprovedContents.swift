import Holdfast
import ServerFoundation
import ServerModel
import ServerStore

/// The approved contents of an app: the published one, and that of the canary.
struct ApprovedContents: Sendable {
    /// The published hosts; nil if nothing is published.
    let published: PublishedHosts?
    /// The hosts of the canary's content; nil if the canary has none.
    let canary: PublishedHosts?

    /// The approved or announced keys of a host's leaf certificates.
    func keys(of host: CatalogHost, _ next: AnnouncedCertificates) -> Set<Digest> {
        let hosts = [published?.pins(of: host), canary?.pins(of: host)].compactMap(\.self)
        let keys = hosts.flatMap { $0.keys.filter { $0.role == .leaf }.map(\.pin) }
        return Set(keys + next.keys.map { Digest(of: $0) } + next.chains.compactMap(\.chain.leafKey))
    }

    /// The certificates that are published under the exact name of a host, or announced for it.
    func certificates(of host: CatalogHost, _ next: AnnouncedCertificates) -> Set<Digest> {
        Set((published?.named(host)?.certificates ?? []).map(\.fingerprint) + next.chains.map(\.chain.fingerprint))
    }
}

extension Catalog {
    /// Reads the approved contents of an app.
    /// - Parameter hosts: returns the cached hosts of a content by its digest, or reads them.
    static func approvedContents(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger,
        finding hosts: (Digest, () throws(ServerError) -> [ContentHost]) throws(ServerError) -> PublishedHosts = {
            _, read throws(ServerError) in PublishedHosts(try read())
        }
    ) throws(ServerError) -> ApprovedContents {
        var published: PublishedHosts?
        if let publication = ledger.publication(of: app) {
            published = try hosts(publication.content) { () throws(ServerError) in
                try content(of: publication, app: app, in: session).hosts
            }
        }
        var canary: PublishedHosts?
        if let id = ledger.canaries[app]?.change, let proposal = ledger.proposals[id] {
            canary = try hosts(proposal.content) { () throws(ServerError) in
                try content(withDigest: proposal.content, ofChange: id, app: app, in: session).hosts
            }
        }
        return ApprovedContents(published: published, canary: canary)
    }
}
