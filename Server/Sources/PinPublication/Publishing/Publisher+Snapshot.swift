import Foundation
import Holdfast
import HoldfastSigning
import PinChanges
import ServerApprovals
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// Builds the snapshot that answers clients, and serves it if it is newer. If the rows of an app cannot be read,
    /// the app is served as before, and the snapshot has a problem.
    /// - Parameters:
    ///   - compressing: whether to compress new documents now; a starting server does so the next time.
    ///   - keeping: whether to keep the data of apps without new entries in the audit. A refresh that keeps none also
    ///     finds damage in other tables.
    /// - Throws: ``ServerError`` of the database; the previous snapshot is still served.
    @discardableResult
    package func refresh(
        compressing: Bool = true, keepingUnchanged keeping: Bool = false
    ) async throws(ServerError) -> PublishedSnapshot {
        try await refresh(compressing: compressing, keepingUnchanged: keeping, starting: nil)
    }

    /// - Parameter starting: the apps that a starting server has to read, in the order of requests and with all
    ///   processors; nil for a running server.
    private func refresh(
        compressing: Bool, keepingUnchanged keeping: Bool, starting: StartingApps?
    ) async throws(ServerError) -> PublishedSnapshot {
        let snapshot = try await catalog.look { [self] session, ledger throws(ServerError) in
            var problems: [String] = []
            // Without the approvers, each app reports the error.
            let approvers = try? Catalog.approverChain(
                session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
            let look = Look(
                now: try session.now(), isMute: catalog.clockProblem != nil, approvers: approvers,
                served: live.current, ledger: ledger, compressing: compressing)
            let apps = ledger.appNames
            let found: [PublishedSnapshot.Contribution]
            if let starting {
                SharedSession.onAllProcessors(session) { session in
                    while let app = starting.next() { starting.finish(app, served(app, look, session)) }
                }
                guard !starting.isStopped else {
                    throw ServerError(
                        .database, expected: "the time to read what is published", found: "a server that stops")
                }
                let read = starting.contributions
                // An app may have been added since the start began.
                found = apps.map { read[$0] ?? served($0, look, session) }
            } else {
                found = apps.map { app in
                    let known = keeping ? look.unchanged(app) : nil
                    return known ?? served(app, look, session)
                }
            }
            problems += found.flatMap(\.problems)
            return PublishedSnapshot(
                sequence: ledger.chain.head.count, parts: PublishedSnapshot.parts(of: found), problems: problems,
                contributions: Dictionary(uniqueKeysWithValues: zip(apps, found)))
        }
        live.replace(with: snapshot)
        return live.current
    }

    /// Starts to serve before anything was read. ``readWhatIsServed()`` reads the apps, and clients wait for those that
    /// they request.
    package func begin() { live.replace(with: PublishedSnapshot(starting: StartingApps(catalog.ledger))) }

    /// Reads the apps after ``begin()``; does nothing if that is done.
    /// - Throws: ``ServerError`` of the database. Clients no longer wait then, and unread documents are missing.
    package func readWhatIsServed() async throws(ServerError) {
        guard let starting = live.current.starting else { return }
        defer {
            if live.current.starting != nil {
                // Continue to serve the documents that were read. Whether others exist is unknown.
                let read = PublishedSnapshot(of: Array(starting.contributions.values))
                live.replace(with: PublishedSnapshot(documents: read.documents))
            }
            starting.end()
        }
        // Compress documents after clients were answered.
        _ = try await refresh(compressing: false, keepingUnchanged: false, starting: starting)
    }

    /// The inputs that are the same for all apps of a snapshot.
    private struct Look: Sendable {
        let now: Int64
        /// Whether nothing may be signed, because the clock is not trusted.
        let isMute: Bool
        let approvers: ApproverChain?
        let served: PublishedSnapshot
        let ledger: Ledger
        let compressing: Bool
        /// The served documents, whose bytes are in memory already.
        let documents: [Digest: PublishedSnapshot.Document]

        init(
            now: Int64, isMute: Bool, approvers: ApproverChain?, served: PublishedSnapshot, ledger: Ledger,
            compressing: Bool
        ) {
            self.now = now
            self.isMute = isMute
            self.approvers = approvers
            self.served = served
            self.ledger = ledger
            self.compressing = compressing
            documents = Dictionary(served.documents.values.map { ($0.digest, $0) }) { first, _ in first }
        }

        /// The data of an app and its canary, if reading them again would give the same; nil otherwise.
        func unchanged(_ app: AppName) -> PublishedSnapshot.Contribution? {
            // A canary with a change can change without an entry in the audit.
            guard ledger.canaries[app] == nil,
                let known = served.contributions[app], known.problems.isEmpty, known.isMute == isMute,
                known.entry == ledger.touches.latest(of: app),
                (known.begin...known.end).contains(now)
            else { return nil }
            return compressing ? known.compressing() : known
        }
    }

    private func served(
        _ app: AppName, _ look: Look, _ session: any StorageSession
    ) -> PublishedSnapshot.Contribution {
        let ledger = look.ledger
        var found = PublishedSnapshot.Contribution(
            entry: ledger.touches.latest(of: app), isMute: look.isMute, isCompressed: look.compressing, begin: look.now)
        var bytes = KnownBytes(look)
        var everybody: SigningPermit?
        var answers: PublishedSnapshot.App?
        for audience in ReleaseChannel.allCases {
            guard let name = audience.name(of: app) else { continue }
            var part: PublishedSnapshot.Part?
            do throws(ServerError) {
                let isShared = audience == .canary && ledger.canaries[app] == nil
                let permit: SigningPermit?
                if isShared, let everybody {
                    permit = everybody
                } else {
                    permit = try Catalog.permit(
                        for: audience, of: app, catalog, session, ledger, approvers: look.approvers)
                }
                if audience == .everybody { everybody = permit }
                found.end = min(found.end, permit?.content.nextExpiry(after: look.now) ?? .max)
                part = try permit.map { permit throws(ServerError) in
                    try self.part(permit, audience, like: isShared ? answers : nil, &bytes, look, session)
                }
                if audience == .everybody { answers = part?.app }
            } catch {
                found.problems.append("\(name) is served as before: \(error)")
                part = look.served.parts[name]?.kept(signing: ledger.content(for: audience, of: app))
                // A server that has just started has no previous data.
                if part == nil, audience == .everybody {
                    part = PublishedSnapshot.Part(documents: folder.documents(of: app, ledger, at: look.now))
                }
            }
            found.parts.append((name, part))
        }
        return found
    }

    /// Documents whose bytes are in memory already: the served ones, and those of all clients that the canary has as
    /// well.
    private struct KnownBytes {
        private let look: Look
        private var documents: [Digest: PublishedSnapshot.Document] = [:]

        init(_ look: Look) { self.look = look }

        mutating func document(
            _ stored: Catalog.StoredDocument, mediaType: String, refresh: Int64
        ) -> PublishedSnapshot.Document {
            let document = PublishedSnapshot.Document(
                bytes: stored.bytes, digest: stored.digest, mediaType: mediaType, signedAt: stored.signedAt,
                refresh: refresh, end: stored.end, like: { documents[$0] ?? look.documents[$0] },
                compressing: look.compressing)
            documents[document.digest] = document
            return document
        }
    }

    /// The data of a release channel.
    /// - Parameter known: the challenge answers, if another channel has the same.
    private func part(
        _ permit: SigningPermit, _ audience: ReleaseChannel, like known: PublishedSnapshot.App?,
        _ bytes: inout KnownBytes,
        _ look: Look, _ session: any StorageSession
    ) throws(ServerError) -> PublishedSnapshot.Part {
        let (app, ledger) = (permit.content.app, look.ledger)
        var part = PublishedSnapshot.Part(end: permit.content.end)
        for format in permit.content.formats {
            if format.kind == .challenge {
                if let known {
                    part.app = known
                } else {
                    let served = audience.name(of: app).flatMap { look.served.apps[$0] }
                    part.app = try challenged(permit, look, session)?.shared(with: served)
                }
            } else if format.kind == .repository, audience == .everybody {
                var documents: [Catalog.StoredDocument] = []
                for (path, version) in ledger.repository(of: app).documents {
                    documents.append(try Catalog.stored(path, version, of: app, session))
                }
                for stored in documents {
                    part.documents[stored.path] = bytes.document(
                        stored, mediaType: format.mediaType, refresh: RepositoryPath.refresh(of: stored.path))
                }
            } else if let path = permit.content.path(of: format.kind, for: audience),
                let stored = try Catalog.document(path, of: app, session, ledger)
            {
                part.documents[path] = bytes.document(stored, mediaType: format.mediaType, refresh: format.refresh)
            }
        }
        return part
    }

    private func challenged(
        _ permit: SigningPermit, _ look: Look, _ session: any StorageSession
    ) throws(ServerError) -> PublishedSnapshot.App? {
        let (app, ledger) = (permit.content.app, look.ledger)
        guard let stored = try Catalog.key(.fingerprints, of: app, catalog.server, session, ledger) else { return nil }
        let sealed = SealedKeys(app: app, fingerprints: stored)
        var keys: DocumentKeys?
        do throws(ServerError) {
            // A wrong clock drops certificates that look expired. Sign nothing until it is right.
            let isMute = ledger.isHeld(app) || look.isMute
            keys = isMute ? nil : try DocumentKeys(opening: sealed, with: secret, for: permit)
        } catch {
            // Without the right secret, challenges are not answered. Signed documents are still served.
            guard error.code == .sealedKey || error.code == .secretFile else { throw error }
        }
        return PublishedSnapshot.App(
            generation: ledger.generation(of: app), content: AnsweredContent(permit.content),
            entries: try permit.content.entries(at: look.now, until: permit.limit),
            // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
            publicKey: Base64.encode(stored.publicKey.suffix(65)), key: keys?.challenges,
            signer: stored.place.id)
    }
}
