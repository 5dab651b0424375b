import Foundation
import Holdfast
import HoldfastSigning

extension Publisher {
    /// Puts together what clients are answered from, and serves it if it is newer. What cannot be read of one app leaves
    /// that app as it was, and is one of the snapshot's problems.
    /// - Parameters:
    ///   - compressing: whether new documents are compressed now, which a server that starts leaves for the next time.
    ///   - keeping: whether what is served of an app stays as it is where nothing has changed, as the audit has it. What
    ///     somebody damaged in other tables is found without it.
    /// - Throws: ``ServerError`` of the database; what was served before is served on.
    @discardableResult
    public func refresh(
        compressing: Bool = true, keepingUnchanged keeping: Bool = false
    ) async throws(ServerError) -> PublishedSnapshot {
        try await refresh(compressing: compressing, keepingUnchanged: keeping, starting: nil)
    }

    /// - Parameter starting: what a server that starts has to read, in the order of what clients ask for and with all
    ///   processors; nil for one that runs.
    private func refresh(
        compressing: Bool, keepingUnchanged keeping: Bool, starting: StartingApps?
    ) async throws(ServerError) -> PublishedSnapshot {
        let snapshot = try await catalog.look { [self] session, ledger throws(ServerError) in
            var problems: [String] = []
            // Without the approvers each app says what is wrong.
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

    /// Begins to serve what nobody has read yet: ``readWhatIsServed()`` reads it, while clients wait for what they ask for.
    public func begin() { live.replace(with: PublishedSnapshot(starting: StartingApps(catalog.ledger))) }

    /// Reads what ``begin()`` announced; nothing if that is done.
    /// - Throws: ``ServerError`` of the database. Nobody waits any longer then, and what could not be read is not there.
    func readWhatIsServed() async throws(ServerError) {
        guard let starting = live.current.starting else { return }
        defer {
            if live.current.starting != nil {
                // Documents that were read are served on; of all else nobody knows whether there is any.
                let read = PublishedSnapshot(of: Array(starting.contributions.values))
                live.replace(with: PublishedSnapshot(documents: read.documents))
            }
            starting.end()
        }
        // Documents are compressed when clients have been answered.
        _ = try await refresh(compressing: false, keepingUnchanged: false, starting: starting)
    }

    /// What is the same for all apps while a snapshot is put together.
    private struct Look: Sendable {
        let now: Int64
        /// Whether nothing may be signed, because the clock cannot be believed.
        let isMute: Bool
        let approvers: ApproverChain?
        let served: PublishedSnapshot
        let ledger: Ledger
        let compressing: Bool
        /// The documents that are served, whose bytes are in memory already.
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

        /// What an app and its canary have, if reading it again would find the same; nil to read it.
        func unchanged(_ app: AppName) -> PublishedSnapshot.Contribution? {
            // What a change holds for some hours changes without an entry.
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
                // A server that has just started served nothing before.
                if part == nil, audience == .everybody {
                    part = PublishedSnapshot.Part(documents: folder.documents(of: app, ledger, at: look.now))
                }
            }
            found.parts.append((name, part))
        }
        return found
    }

    /// Documents whose bytes are in memory already: those that are served, and those of everybody where the canary has
    /// the same.
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

    /// What an audience gets.
    /// - Parameter known: what challenge answers say, where another audience has the same.
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
            // What a clock that is wrong lets expire must not be missing in what is signed once it is right.
            let isMute = ledger.isHeld(app) || look.isMute
            keys = isMute ? nil : try DocumentKeys(opening: sealed, with: secret, for: permit)
        } catch {
            // Without the secret, or with another, challenges are not answered; documents that were signed are served all the same.
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
