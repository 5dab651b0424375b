import Foundation
import Holdfast
import HoldfastSigning

extension Publisher {
    /// Puts together what clients are answered from, and serves it if it is newer.
    /// - Throws: ``ServerError``; what was served before is served on.
    @discardableResult
    public func refresh() async throws(ServerError) -> PublishedSnapshot {
        let snapshot = try await catalog.look { [catalog, secret] session, ledger throws(ServerError) in
            var documents: [String: PublishedSnapshot.Document] = [:]
            var apps: [AppName: PublishedSnapshot.App] = [:]
            for app in ledger.apps.keys {
                let publication = ledger.publication(of: app)
                let published = try publication.map { publication throws(ServerError) in
                    try Catalog.permit(for: publication, catalog, session, ledger)
                }
                let canary = try Catalog.canary(of: app, catalog, session, ledger)?.permit ?? published
                let maker = SnapshotMaker(
                    app: app, generation: publication?.generation ?? 0, server: catalog.server, secret: secret)
                if let published {
                    try maker.add(published, as: app, { $0.path(of: app) }, &documents, &apps, session, ledger)
                }
                if let canary, let name = app.canary, ledger.apps[name] == nil {
                    try maker.add(
                        canary, as: name, { canary.content.canaryPath(of: $0.kind) }, &documents, &apps, session, ledger
                    )
                }
            }
            return PublishedSnapshot(sequence: ledger.chain.head.count, documents: documents, apps: apps)
        }
        live.replace(with: snapshot)
        return live.current
    }
}

/// Adds what one app publishes to a snapshot.
private struct SnapshotMaker {
    let app: AppName
    let generation: Int64
    let server: RandomID
    let secret: SigningSecret?

    func add(
        _ permit: SigningPermit, as name: AppName, _ path: (ContentFormat) -> String?,
        _ documents: inout [String: PublishedSnapshot.Document], _ apps: inout [AppName: PublishedSnapshot.App],
        _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) {
        let content = permit.content
        for format in content.formats {
            if format.kind == .challenge {
                apps[name] = try challenged(permit, session, ledger)
            } else if let path = path(format), let stored = try Catalog.document(path, of: app, session, ledger) {
                documents[path] = PublishedSnapshot.Document(
                    octets: stored.octets, mediaType: format.mediaType, signedAt: stored.signedAt,
                    refresh: format.refresh, end: stored.end)
            }
        }
    }

    private func challenged(
        _ permit: SigningPermit, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> PublishedSnapshot.App? {
        guard let stored = try Catalog.key(.fingerprints, of: app, server, session, ledger) else { return nil }
        let sealed = SealedKeys(app: app, fingerprints: stored, trustServer: nil)
        let keys = try secret.map { secret throws(ServerError) in
            try DocumentKeys(opening: sealed, with: secret, for: permit)
        }
        return PublishedSnapshot.App(
            generation: generation, content: permit.content, entries: try permit.content.entries(at: session.now()),
            // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
            publicKey: Base64.encode(stored.sealed.publicKey.suffix(65)), key: keys?.fingerprints)
    }
}
