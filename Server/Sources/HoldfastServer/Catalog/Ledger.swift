/// What the audit says has happened, from its first entry on. Rows of other tables are believed only where it agrees:
/// which generation an app has, what was proposed by whom and rejected, which documents were signed, and what the
/// settings, hosts and keys are.
public struct Ledger: Sendable {
    /// What was published last for an app.
    public struct Publication: Sendable, Hashable {
        /// The generation; the first is 1.
        public let generation: Int64
        /// The change.
        public let change: RandomID
        /// The digest of its content.
        public let content: Digest
        /// The digest of the statement of approvers that counted.
        public let approvers: Digest
        /// When, in seconds since 1970.
        public let time: Int64
    }

    /// What was proposed.
    public struct Proposal: Sendable, Hashable {
        /// The app.
        public let app: AppName
        /// The digest of the content.
        public let content: Digest
        /// The digest of the outlook.
        public let outlook: Digest
        /// The generation that it replaces.
        public let baseGeneration: Int64
        /// The gates that it passes even if it fails them, as approvals name them.
        let forced: String
        /// The digest of the proposer's key; nil for nobody who approves.
        public let proposer: Digest?
        /// Why it was proposed.
        public let reason: String
        /// When, in seconds since 1970.
        public let time: Int64
    }

    /// What is told apart by an app and a name: a document by its format, a setting by what it is about.
    public struct Name: Sendable, Hashable {
        /// The app.
        public let app: AppName
        /// The format of a document; what a setting is about.
        public let name: String

        /// Names a document or a setting.
        public init(app: AppName, name: String) {
            self.app = app
            self.name = name
        }

        fileprivate var isOfFingerprints: Bool {
            name.utf8.elementsEqual(SealedKey.Purpose.fingerprints.rawValue.utf8)
        }
    }

    /// The newest version of a document.
    public struct Version: Sendable, Hashable {
        /// The version; the first is 1.
        public let version: Int64
        /// The digest of its bytes; ``Digest/nothing`` if it is no longer published.
        public let digest: Digest

        /// Whether it is no longer published.
        public var isWithdrawn: Bool { digest == .nothing }
    }

    /// The change that a canary has, before everybody.
    public struct Canary: Sendable, Hashable {
        /// The change.
        public let change: RandomID
        /// When it took the canary, in seconds since 1970.
        public let began: Int64
        /// How clients have fared with it.
        public fileprivate(set) var probes = CanaryProbes()
    }

    /// What a vantage saw that nobody announced.
    public struct Sighting: Sendable, Hashable {
        /// The SHA-256 of the certificates that servers showed as their own.
        public let certificates: Set<Digest>
        /// When, in seconds since 1970.
        public let time: Int64
    }

    /// A private key that signs for an app.
    public struct Key: Sendable, Hashable {
        /// Its id.
        public let id: String
        /// The digest of its public key.
        public let publicKey: Digest
        /// The digest of the certificate that clients are configured with; nil for keys without one.
        public let certificate: Digest?
        /// The digest of the program that has the private key; nil if the server has it.
        public let program: Digest?
        /// Whether it was in a file or a database before it was sealed, where somebody may have read it.
        public let wasInPlainText: Bool
    }

    /// Verifies the entries.
    public private(set) var chain: AuditChain
    /// The apps that exist, with everything that was published, the oldest first.
    public private(set) var apps: [AppName: [Publication]] = [:]
    /// The changes that were proposed.
    public private(set) var proposals: [RandomID: Proposal] = [:]
    /// The changes that can never be published anymore: rejected, lapsed, or published already.
    public private(set) var ended: [RandomID: AuditEntry.Event] = [:]
    /// The changes that hold the canary of an app, one at most. A change lets go of it when it ends, when anything is
    /// published for the app, and when other approvers count, under whom nobody has approved it; then it has to begin anew.
    public private(set) var canaries: [AppName: Canary] = [:]
    /// The newest version of each document.
    public private(set) var documents: [Name: Version] = [:]
    /// When each was signed, in seconds since 1970.
    private(set) var signedAt: [Name: Int64] = [:]
    /// The digests of what is set now.
    public private(set) var settings: [Name: Digest] = [:]
    /// The key that signs, for each purpose.
    public private(set) var keys: [Name: Key] = [:]
    /// The keys that were prepared to sign once their holders have put them into a root.
    public private(set) var nextKeys: [Name: Key] = [:]
    /// The lists that the key before the one that signs now has signed.
    private(set) var outdatedLists: Set<Name> = []
    /// The alarms about keys, each with the host and the digest of the key.
    private(set) var keyAlarms = HostMarks()
    /// The reminders that something has to be published, each with the host and the digest of what ends.
    private(set) var reminderMarks = HostMarks()
    /// What each vantage saw last that nobody announced: by the host, then by the name of the vantage.
    public private(set) var sightings: [Name: [String: Sighting]] = [:]
    /// The tokens that were made and not revoked, by their digests.
    public private(set) var tokens: [Digest: TokenGrant] = [:]
    /// Who is invited, has a passkey, and is signed in.
    private(set) var people = PeopleLedger()
    /// The statement of approvers that counts.
    public private(set) var approvers: ApproverChain.Mark?
    /// The time of the latest entry, in seconds since 1970. Only a person who vouches for the clock sets it back.
    public private(set) var latestTime: Int64 = 0
    /// How often a person has vouched for the clock.
    public private(set) var resumptions = 0
    /// When the latest backup was written, in seconds since 1970; nil if none was.
    public private(set) var latestBackup: Int64?
    /// The ``SigningSecret/id`` of the secret that keys are sealed with since the last change of it; nil if there was none.
    public private(set) var secretID: [UInt8]?
    /// The apps that another server had, and since when clients were told there what the first content says, in seconds
    /// since 1970; nil if nobody has said.
    private(set) var takenOver: [AppName: Int64?] = [:]
    /// Where the audit last said something about each app.
    private(set) var touches = LedgerTouches()
    /// What restoring has changed.
    var restored = Restorations()

    /// Before the first entry.
    public init() { chain = AuditChain() }

    /// The alarms that were raised: the host and the digest of what it showed.
    public var alarms: Set<Name> { Set(keyAlarms.times.keys) }
    /// What has to be published soon was said about: the host, and the digest of the certificate or content that ends.
    public var reminders: Set<Name> { Set(reminderMarks.times.keys) }
    /// The alarms that were raised more than once.
    var repeatedAlarms: Set<Name> { keyAlarms.repeated }
    /// When each alarm was raised last, and each reminder said, in seconds since 1970.
    var alarmedAt: [Name: Int64] { keyAlarms.times }
    var remindedAt: [Name: Int64] { reminderMarks.times }

    /// The names of all apps, sorted.
    var appNames: [AppName] {
        apps.keys.sorted { $0.description.utf8.lexicographicallyPrecedes($1.description.utf8) }
    }

    /// The generation of an app; 0 before its first publication.
    public func generation(of app: AppName) -> Int64 {
        max(publication(of: app)?.generation ?? 0, restored.generations[app] ?? 0)
    }

    /// The version that a document gets next: greater than any that was ever public.
    func nextVersion(of document: Name) -> Int64 {
        max(documents[document]?.version ?? 0, restored.versions[document.name] ?? 0) + 1
    }

    /// What was published last for an app; nil if nothing was.
    public func publication(of app: AppName) -> Publication? { apps[app]?.last }

    /// Takes the next entry.
    /// - Throws: ``ServerError`` `brokenChain` for one that does not follow, or that cannot have happened; nothing has
    ///   changed then.
    public mutating func follow(_ bytes: [UInt8]) throws(ServerError) {
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

    /// Changes nothing before everything was read.
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
            // A rejection after another, or after the publication, changes nothing.
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

    /// What was proposed at a time that is still to come would be open for longer than approvers were told, and a canary
    /// would have a change for longer than its hours.
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
        // Vantages are named by those who look: one that has said nothing for so long counts for nothing.
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
        // Whoever held a token of what was restored may have lost it since.
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
