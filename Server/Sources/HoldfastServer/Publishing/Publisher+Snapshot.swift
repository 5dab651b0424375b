import Foundation
import Holdfast
import HoldfastSigning

extension Publisher {
    /// Puts together what clients are answered from, and serves it if it is newer. What cannot be read of one app leaves
    /// that app as it was, and is one of the snapshot's problems.
    /// - Parameter compressing: whether new documents are compressed now, which a server that starts leaves for the next
    ///   time.
    /// - Throws: ``ServerError`` of the database; what was served before is served on.
    @discardableResult
    public func refresh(compressing: Bool = true) async throws(ServerError) -> PublishedSnapshot {
        let snapshot = try await catalog.look { [self] session, ledger throws(ServerError) in
            let served = live.current
            var parts: [AppName: PublishedSnapshot.Part] = [:]
            var problems: [String] = []
            let now = try session.now()
            // Without the approvers each app says what is wrong.
            let approvers = try? Catalog.approverChain(
                session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
            var octets = KnownOctets(served, compressing: compressing)
            var later = Journaled()
            do throws(ServerError) { later = try journaled(session, ledger) } catch { problems.append("\(error)") }
            for app in ledger.appNames {
                var everybody: SigningPermit?
                var answers: PublishedSnapshot.App?
                for audience in Audience.allCases {
                    guard let name = audience.name(of: app) else { continue }
                    // A canary that follows a repository is an app as well, under the same name.
                    let other = parts[name]
                    do throws(ServerError) {
                        let isShared = audience == .canary && ledger.canaries[app] == nil
                        let permit: SigningPermit?
                        if isShared, let everybody {
                            permit = everybody
                        } else {
                            permit = try Catalog.permit(
                                for: audience, of: app, catalog, session, ledger, approvers: approvers)
                        }
                        if audience == .everybody { everybody = permit }
                        parts[name] = try permit.map { permit throws(ServerError) in
                            try part(
                                permit, audience, like: isShared ? answers : nil, &octets, later, session, ledger)
                        }
                        if audience == .everybody { answers = parts[name]?.app }
                    } catch {
                        problems.append("\(name) is served as before: \(error)")
                        parts[name] = served.parts[name]?.kept(signing: ledger.content(for: audience, of: app))
                        // A server that has just started served nothing before.
                        if parts[name] == nil, audience == .everybody {
                            parts[name] = PublishedSnapshot.Part(documents: folder.documents(of: app, ledger, at: now))
                        }
                    }
                    if let other { parts[name] = parts[name]?.merging(other) ?? other }
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

    /// Documents whose octets are in memory already: those that are served, and those of everybody where the canary has
    /// the same.
    private struct KnownOctets {
        private var documents: [Digest: PublishedSnapshot.Document]
        private let compressing: Bool

        init(_ served: PublishedSnapshot, compressing: Bool) {
            documents = Dictionary(served.documents.values.map { ($0.digest, $0) }) { first, _ in first }
            self.compressing = compressing
        }

        mutating func document(
            _ stored: Catalog.StoredDocument, mediaType: String, refresh: Int64
        ) -> PublishedSnapshot.Document {
            let document = PublishedSnapshot.Document(
                octets: stored.octets, mediaType: mediaType, signedAt: stored.signedAt, refresh: refresh,
                end: stored.end, like: { documents[$0] }, compressing: compressing)
            documents[document.digest] = document
            return document
        }
    }

    /// What an audience gets.
    /// - Parameter known: what challenge answers say, where another audience has the same.
    private func part(
        _ permit: SigningPermit, _ audience: Audience, like known: PublishedSnapshot.App?, _ octets: inout KnownOctets,
        _ later: Journaled, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> PublishedSnapshot.Part {
        let app = permit.content.app
        var part = PublishedSnapshot.Part(end: permit.content.end)
        for format in permit.content.formats {
            if format.kind == .challenge {
                if let known {
                    part.app = known
                } else {
                    let served = audience.name(of: app).flatMap { live.current.apps[$0] }
                    part.app = try challenged(permit, session, ledger)?.shared(with: served)
                }
            } else if format.kind == .repository, audience == .everybody {
                var documents: [Catalog.StoredDocument] = []
                for (path, version) in ledger.repository(of: app).documents where later.documents[path] == nil {
                    documents.append(try Catalog.stored(path, version, of: app, session))
                }
                documents += later.documents.values.filter { RepositoryPath.isServed($0.path, by: app) }
                for stored in documents {
                    part.documents[stored.path] = octets.document(
                        stored, mediaType: format.mediaType, refresh: RepositoryPath.refresh(of: stored.path))
                }
            } else if let path = permit.content.path(of: format.kind, for: audience),
                let stored = try Catalog.document(path, of: app, session, ledger).map({ later.documents[path] ?? $0 })
            {
                part.documents[path] = octets.document(stored, mediaType: format.mediaType, refresh: format.refresh)
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
            publicKey: Base64.encode(stored.publicKey.suffix(65)), key: keys?.challenges,
            signer: stored.place.id)
    }
}
