package import ServerApprovals
package import ServerFoundation
package import ServerModel

/// The state that the audit describes, from its first entry on. Rows of other tables are trusted only if they match it:
/// the generation of an app, the proposed and rejected changes with their proposers, the signed documents, and the
/// settings, hosts and keys.
package struct Ledger: Sendable {
    /// A publication of an app.
    package struct Publication: Sendable, Hashable {
        /// The generation; the first is 1.
        package let generation: Int64
        /// The change.
        package let change: RandomID
        /// The digest of its content.
        package let content: Digest
        /// The digest of the statement of approvers that was in force.
        package let approvers: Digest
        /// The time, in seconds since 1970.
        package let time: Int64
    }

    /// A proposed change.
    package struct Proposal: Sendable, Hashable {
        /// The app.
        package let app: AppName
        /// The digest of the content.
        package let content: Digest
        /// The digest of the outlook.
        package let outlook: Digest
        /// The generation that it replaces.
        package let baseGeneration: Int64
        /// The gates that it passes even if it fails them, as approvals name them.
        package let forced: String
        /// The digest of the proposer's key; nil if the proposer is not an approver.
        package let proposer: Digest?
        /// The reason for the change.
        package let reason: String
        /// The time, in seconds since 1970.
        package let time: Int64
    }

    /// The app and name that identify a document, by its format, or a setting, by its subject.
    package struct Name: Sendable, Hashable {
        /// The app.
        package let app: AppName
        /// The format of a document, or the subject of a setting.
        package let name: String

        /// Names a document or a setting.
        package init(app: AppName, name: String) {
            self.app = app
            self.name = name
        }

        fileprivate var isOfFingerprints: Bool {
            name.utf8.elementsEqual(SealedKey.Purpose.fingerprints.rawValue.utf8)
        }
    }

    /// The newest version of a document.
    package struct Version: Sendable, Hashable {
        /// The version; the first is 1.
        package let version: Int64
        /// The digest of its bytes; ``Digest/nothing`` if it is no longer published.
        package let digest: Digest

        /// Whether it is no longer published.
        package var isWithdrawn: Bool { digest == .nothing }

        package init(version: Int64, digest: Digest) {
            self.version = version
            self.digest = digest
        }
    }

    /// A change that the canary has before all other clients.
    package struct Canary: Sendable, Hashable {
        /// The change.
        package let change: RandomID
        /// The time at which it took the canary, in seconds since 1970.
        package let began: Int64
        /// The results of probing with its documents.
        package fileprivate(set) var probes = CanaryProbes()
    }

    /// An unannounced certificate that a vantage saw.
    package struct Sighting: Sendable, Hashable {
        /// The SHA-256 of the leaf certificates that servers presented.
        package let certificates: Set<Digest>
        /// The time, in seconds since 1970.
        package let time: Int64
    }

    /// A private key that signs for an app.
    package struct Key: Sendable, Hashable {
        /// Its id.
        package let id: String
        /// The digest of its public key.
        package let publicKey: Digest
        /// The digest of the certificate that clients are configured with; nil for keys without one.
        package let certificate: Digest?
        /// The digest of the program that has the private key; nil if the server has it.
        package let program: Digest?
        /// Whether it was stored in plain text before it was sealed, where others may have read it.
        package let wasInPlainText: Bool
    }

    /// The verifier of the entries.
    package private(set) var chain: AuditChain
    /// The apps with all their publications, the oldest first.
    package private(set) var apps: [AppName: [Publication]] = [:]
    /// The proposed changes.
    package private(set) var proposals: [RandomID: Proposal] = [:]
    /// The changes that can no longer be published: rejected, lapsed, or published already.
    package private(set) var ended: [RandomID: AuditEntry.Event] = [:]
    /// The changes that hold the canary of an app, one at most. A change releases it when it ends, when anything is
    /// published for the app, and when other approvers come into force, who have not approved it; then it has to begin
    /// again.
    package private(set) var canaries: [AppName: Canary] = [:]
    /// The newest version of each document.
    package private(set) var documents: [Name: Version] = [:]
    /// The time at which each was signed, in seconds since 1970.
    package private(set) var signedAt: [Name: Int64] = [:]
    /// The digests of the current settings.
    package private(set) var settings: [Name: Digest] = [:]
    /// The key that signs, for each purpose.
    package private(set) var keys: [Name: Key] = [:]
    /// The keys that will sign once their holders have put them into a root.
    package private(set) var nextKeys: [Name: Key] = [:]
    /// The lists signed by the key before the current one.
    package private(set) var outdatedLists: Set<Name> = []
    /// The alerts about keys, each with the host and the digest of the key.
    package private(set) var keyAlarms = HostMarks()
    /// The reminders of due publications, each with the host and the digest of the certificate or content that ends.
    private(set) var reminderMarks = HostMarks()
    /// The latest sighting of unannounced certificates from each vantage: by the host, then by the name of the vantage.
    package private(set) var sightings: [Name: [String: Sighting]] = [:]
    /// The tokens that were made and not revoked, by their digests.
    package private(set) var tokens: [Digest: TokenGrant] = [:]
    /// The invitations, passkeys and sessions.
    package private(set) var people = PeopleLedger()
    /// The statement of approvers in force.
    package private(set) var approvers: ApproverChain.Mark?
    /// The time of the latest entry, in seconds since 1970. Only a person who confirms the clock sets it back.
    package private(set) var latestTime: Int64 = 0
    /// The number of times that a person has confirmed the clock.
    package private(set) var resumptions = 0
    /// The time of the latest backup, in seconds since 1970; nil if there was none.
    package private(set) var latestBackup: Int64?
    /// The ``SigningSecret/id`` of the secret that keys are sealed with since it was last changed; nil if it never was.
    package private(set) var secretID: [UInt8]?
    /// The apps taken over from another server, with the time since when clients there had the pins of the first
    /// content, in seconds since 1970; nil if unknown.
    package private(set) var takenOver: [AppName: Int64?] = [:]
    /// The latest entry of the audit about each app.
    package private(set) var touches = LedgerTouches()
    /// The changes made by restoring backups.
    package var restored = Restorations()

    /// The ledger of an empty audit.
    package init() { chain = AuditChain() }

    /// The alerts that were raised: the host and the digest of what it presented.
    package var alarms: Set<Name> { Set(keyAlarms.times.keys) }
    /// The reminders: the host, and the digest of the certificate or content that ends.
    package var reminders: Set<Name> { Set(reminderMarks.times.keys) }
    /// The alerts that were raised more than once.
    package var repeatedAlarms: Set<Name> { keyAlarms.repeated }
    /// The times at which each alert was last raised and each reminder was last sent, in seconds since 1970.
    package var alarmedAt: [Name: Int64] { keyAlarms.times }
    var remindedAt: [Name: Int64] { reminderMarks.times }

    /// The names of all apps, sorted.
    package var appNames: [AppName] {
        apps.keys.sorted { $0.description.utf8.lexicographicallyPrecedes($1.description.utf8) }
    }

    /// The generation of an app; 0 before its first publication.
    package func generation(of app: AppName) -> Int64 {
        max(publication(of: app)?.generation ?? 0, restored.generations[app] ?? 0)
    }

    /// The next version of a document: greater than any that was ever public.
    package func nextVersion(of document: Name) -> Int64 {
        max(documents[document]?.version ?? 0, restored.versions[document.name] ?? 0) + 1
    }

    /// The latest publication of an app; nil if it never published.
    package func publication(of app: AppName) -> Publication? { apps[app]?.last }

    /// Applies the next entry.
    /// - Throws: ``ServerError`` `brokenChain` for an entry that does not follow, or that is impossible; nothing has
    ///   changed then.
    package mutating func follow(_ bytes: [UInt8]) throws(ServerError) {
        var chain = chain
        let entry = try chain.follow(bytes)
        try apply(entry)
        touches.take(entry, about: app(of: entry))
        self.chain = chain
        latestTime = entry.event == .resumed ? entry.time : max(latestTime, entry.time)
    }

    private func app(of entry: AuditEntry) -> AppName? {
        let facts = EntryFacts(entry)
        if facts.has("app") { return try? facts.app() }
        return (try? facts.id("change")).flatMap { proposals[$0]?.app }
    }

    /// Reads all facts before it changes anything.
    private mutating func apply(_ entry: AuditEntry) throws(ServerError) {
        let facts = EntryFacts(entry)
        switch entry.event {
        case .approvers:
            let mark = ApproverChain.Mark(index: try facts.number("index"), digest: try facts.digest("digest"))
            guard mark.index == (approvers?.index ?? -1) + 1 else { throw facts.impossible("the next statement") }
            approvers = mark
            canaries = [:]
        case .app:
            let name = Name(app: try facts.app(), name: try facts.text("name"))
            let digest = try facts.digest("digest")
            guard apps[name.app] != nil || name.name == Catalog.settingsName else {
                throw facts.impossible("an app that exists")
            }
            apps[name.app, default: []] += []
            settings[name] = digest
        case .key: try applyKey(facts)
        case .proposed:
            let change = try facts.id("change")
            guard proposals[change] == nil else { throw facts.impossible("a change that is new") }
            proposals[change] = Proposal(
                app: try facts.app(), content: try facts.digest("content"), outlook: try facts.digest("outlook"),
                baseGeneration: try facts.number("base"), forced: try facts.text("forced"),
                proposer: try facts.optionalDigest("proposer"), reason: try facts.text("reason"), time: entry.time)
        case .canary:
            let (app, change) = (try facts.app(), try facts.id("change"))
            guard let proposal = proposals[change], proposal.app == app, ended[change] == nil, canaries[app] == nil,
                proposal.baseGeneration == generation(of: app)
            else { throw facts.impossible("an open change, and a canary that no other has") }
            canaries[app] = Canary(change: change, began: entry.time)
        case .probed: try applyProbe(entry, facts)
        case .rejected, .lapsed:
            let change = try facts.id("change")
            // A rejection after another end of the change has no effect.
            if ended[change] == nil { ended[change] = entry.event }
            if let app = proposals[change]?.app, canaries[app]?.change == change { canaries[app] = nil }
        case .published: try applyPublication(entry, facts)
        case .signed, .withdrawn:
            let name = Name(app: try facts.app(), name: try facts.text("format"))
            let digest = entry.event == .signed ? try facts.digest("digest") : .nothing
            let version = Version(version: try facts.number("version"), digest: digest)
            guard version.version == nextVersion(of: name) else {
                throw facts.impossible("the next version")
            }
            guard version.isWithdrawn == (entry.event == .withdrawn) else { throw facts.impossible("a document") }
            documents[name] = version
            signedAt[name] = entry.time
            outdatedLists.remove(name)
        case .alarm:
            let host = Name(app: try facts.app(), name: try facts.text("host"))
            let name = Name(app: host.app, name: "\(host.name) \(try facts.digest("digest"))")
            if facts.has("until") {
                reminderMarks.take(name, of: host, at: entry.time)
            } else {
                keyAlarms.take(name, of: host, at: entry.time)
            }
        case .seen: try applySighting(facts)
        case .token: try applyToken(facts)
        case .invitation, .passkey, .session, .pages: try people.take(entry, facts)
        case .resealed: secretID = try facts.bytes("secret", count: 8)
        case .backup: latestBackup = entry.time
        case .restored: try applyRestoring(facts)
        case .resumed: applyResumption(entry.time)
        case .takenOver: try applyTakeover(facts)
        case .created, .approved, .root: break
        }
    }

    private mutating func applyProbe(_ entry: AuditEntry, _ facts: EntryFacts) throws(ServerError) {
        let (app, change) = (try facts.app(), try facts.id("change"))
        guard canaries[app]?.change == change else { throw facts.impossible("the change that the canary has") }
        let refusals = facts.has("refusals") ? try facts.text("refusals").split(separator: CanaryProbes.separator) : []
        canaries[app]?.probes.take(refusals.map(String.init), at: entry.time)
    }

    private mutating func applyKey(_ facts: EntryFacts) throws(ServerError) {
        let name = Name(app: try facts.app(), name: try facts.text("purpose"))
        let key = Key(
            id: try facts.text("id"), publicKey: try facts.digest("publicKey"),
            certificate: try facts.optionalDigest("certificate"), program: try facts.optionalDigest("program"),
            wasInPlainText: facts.has("plainText"))
        switch try facts.keyAction() {
        case .made:
            if keys.updateValue(key, forKey: name) != nil, name.isOfFingerprints {
                let lists = documents.filter { document, newest in
                    document.app == name.app && !newest.isWithdrawn && document.name.utf8.starts(with: "lists/".utf8)
                }
                outdatedLists.formUnion(lists.keys)
            }
        case .prepared: nextKeys[name] = key
        case .begun:
            guard nextKeys[name] == key else { throw facts.impossible("the key that was prepared") }
            (keys[name], nextKeys[name]) = (key, nil)
        }
    }

    /// A proposal with a time in the future would stay open longer than its approvers expect, and a canary would hold a
    /// change for longer than its time.
    private mutating func applyResumption(_ now: Int64) {
        resumptions += 1
        for (id, proposal) in proposals where proposal.time > now && ended[id] == nil { ended[id] = .lapsed }
        canaries = canaries.filter { $0.value.began <= now && ended[$0.value.change] == nil }
            .mapValues { Canary(change: $0.change, began: $0.began) }
        latestBackup = latestBackup.map { min($0, now) }
        sightings = sightings.mapValues { vantages in vantages.filter { $0.value.time <= now } }
    }

    private mutating func applySighting(_ facts: EntryFacts) throws(ServerError) {
        let name = Name(app: try facts.app(), name: try facts.text("host"))
        let (vantage, time) = (try facts.text("vantage"), try facts.number("time"))
        var certificates: Set<Digest> = []
        for part in try facts.text("certificates").utf8.split(separator: UInt8(ascii: ",")) {
            guard let digest = Digest(hex: part) else { throw facts.impossible("digests as certificates") }
            certificates.insert(digest)
        }
        guard Vantage.isName(vantage), apps[name.app] != nil else {
            throw facts.impossible("a vantage of an app's host")
        }
        var known = sightings[name] ?? [:]
        known[vantage] = Sighting(certificates: certificates, time: time)
        // Vantages choose their own names, so one that has reported nothing for so long is dropped.
        if known.count > Vantage.maximumPerHost { known = known.filter { $0.value.time >= time - Vantage.lifetime } }
        sightings[name] = known
    }

    private mutating func applyTakeover(_ facts: EntryFacts) throws(ServerError) {
        let app = try facts.app()
        guard apps[app]?.isEmpty == true, takenOver[app] == nil else {
            throw facts.impossible("an app that has published nothing")
        }
        let since: Int64? = facts.has("since") ? try facts.number("since") : nil
        takenOver.updateValue(since, forKey: app)
    }

    private mutating func applyRestoring(_ facts: EntryFacts) throws(ServerError) {
        switch try restored.take(facts, self) {
        case .nothing: break
        case .withholds(let document): documents[document] = nil
        case .adopts(let document, let version): documents[document] = version
        }
        // A holder of a restored token may have lost it since the backup.
        tokens.removeAll()
        people.endSessions()
    }

    private mutating func applyToken(_ facts: EntryFacts) throws(ServerError) {
        let digest = try facts.digest("token")
        guard try facts.text("action").utf8.elementsEqual("added".utf8) else {
            guard tokens.removeValue(forKey: digest) != nil else { throw facts.impossible("a token that is there") }
            return
        }
        guard let scope = TokenGrant.Scope(Array(try facts.text("scope").utf8)), tokens[digest] == nil else {
            throw facts.impossible("a new token with a scope")
        }
        tokens[digest] = try TokenGrant(
            name: try facts.text("name"), app: try facts.optionalApp(), scope: scope, end: try facts.number("end"))
    }

    private mutating func applyPublication(_ entry: AuditEntry, _ facts: EntryFacts) throws(ServerError) {
        let (app, change) = (try facts.app(), try facts.id("change"))
        let publication = Publication(
            generation: try facts.number("generation"), change: change, content: try facts.digest("content"),
            approvers: try facts.digest("approvers"), time: entry.time)
        guard let proposal = proposals[change], ended[change] == nil, proposal.app == app,
            proposal.content == publication.content, apps[app] != nil,
            publication.generation == generation(of: app) + 1, proposal.baseGeneration == generation(of: app)
        else { throw facts.impossible("an open change on the generation before") }
        apps[app]?.append(publication)
        ended[change] = .published
        canaries[app] = nil
    }
}
