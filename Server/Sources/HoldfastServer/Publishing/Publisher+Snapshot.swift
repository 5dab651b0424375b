import Foundation
import Holdfast
import HoldfastSigning

extension Publisher {
    /// Puts together what clients are answered from, and serves it if it is newer. What cannot be read of one app leaves
    /// that app as it was, and is one of the snapshot's problems.
    /// - Throws: ``ServerError`` of the database; what was served before is served on.
    @discardableResult
    public func refresh() async throws(ServerError) -> PublishedSnapshot {
        let snapshot = try await catalog.look { [self] session, ledger throws(ServerError) in
            let served = live.current
            var parts: [AppName: PublishedSnapshot.Part] = [:]
            var problems: [String] = []
            let now = try session.now()
            var later = Journaled()
            do throws(ServerError) { later = try journaled(session, ledger) } catch { problems.append("\(error)") }
            for app in ledger.appNames {
                for audience in Audience.allCases {
                    guard let name = audience.name(of: app), audience == .everybody || ledger.apps[name] == nil else {
                        continue
                    }
                    do throws(ServerError) {
                        parts[name] = try part(of: app, audience, later, session, ledger)
                    } catch {
                        problems.append("\(name) is served as before: \(error)")
                        parts[name] = served.parts[name]?.kept(signing: ledger.content(for: audience, of: app))
                        // A server that has just started served nothing before.
                        if parts[name] == nil, audience == .everybody {
                            parts[name] = PublishedSnapshot.Part(documents: folder.documents(of: app, ledger, at: now))
                        }
                    }
                }
            }
            // Each round has more entries in history than it is here, so this grows when they are entered.
            let entries = ledger.chain.head.count
            return PublishedSnapshot(
                sequence: entries + Int64(later.rounds), entries: entries, parts: parts, problems: problems)
        }
        live.replace(with: snapshot)
        return live.current
    }

    /// What an audience gets; nil before it gets anything.
    private func part(
        of app: AppName, _ audience: Audience, _ later: Journaled, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> PublishedSnapshot.Part? {
        guard let permit = try Catalog.permit(for: audience, of: app, catalog, session, ledger) else { return nil }
        var part = PublishedSnapshot.Part()
        for format in permit.content.formats {
            if format.kind == .challenge {
                part.app = try challenged(permit, session, ledger)
            } else if format.kind == .repository, audience == .everybody {
                var documents: [Catalog.StoredDocument] = []
                for (path, version) in ledger.repository(of: app).documents where later.documents[path] == nil {
                    documents.append(try Catalog.stored(path, version, of: app, session))
                }
                documents += later.documents.values.filter { RepositoryPath.isServed($0.path, by: app) }
                for stored in documents {
                    part.documents[stored.path] = PublishedSnapshot.Document(
                        octets: stored.octets, mediaType: format.mediaType, signedAt: stored.signedAt,
                        refresh: RepositoryPath.refresh(of: stored.path), end: stored.end)
                }
            } else if let path = permit.content.path(of: format.kind, for: audience),
                let stored = try Catalog.document(path, of: app, session, ledger).map({ later.documents[path] ?? $0 })
            {
                part.documents[path] = PublishedSnapshot.Document(
                    octets: stored.octets, mediaType: format.mediaType, signedAt: stored.signedAt,
                    refresh: format.refresh, end: stored.end)
            }
        }
        return part
    }

    private func challenged(
        _ permit: SigningPermit, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> PublishedSnapshot.App? {
        let app = permit.content.app
        guard let stored = try Catalog.key(.fingerprints, of: app, catalog.server, session, ledger) else { return nil }
        let sealed = SealedKeys(app: app, fingerprints: stored)
        var keys: DocumentKeys?
        do throws(ServerError) {
            // What a clock that is wrong lets expire must not be missing in what is signed once it is right.
            let isMute = ledger.isHeld(app) || catalog.clockProblem != nil
            keys = isMute ? nil : try DocumentKeys(opening: sealed, with: secret, for: permit)
        } catch {
            // Without the secret, or with another, challenges are not answered; documents that were signed are served all the same.
            guard error.code == .sealedKey || error.code == .secretFile else { throw error }
        }
        return PublishedSnapshot.App(
            generation: ledger.generation(of: app), content: permit.content,
            entries: try permit.content.entries(at: session.now()),
            // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
            publicKey: Base64.encode(stored.publicKey.suffix(65)), key: keys?.challenges)
    }
}
