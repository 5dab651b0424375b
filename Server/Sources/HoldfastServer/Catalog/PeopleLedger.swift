/// What the audit says about people who use passkeys: who is invited, who has one, who is signed in,
/// and where.
struct PeopleLedger: Sendable {
    /// Somebody who is signed in.
    struct Session: Sendable, Hashable {
        /// The passkey that signed in.
        let passkey: Digest
        /// The last second at which it counts, in seconds since 1970.
        let end: Int64
    }

    /// What became of a passkey or a session.
    enum Action: String, Sendable, Hashable, CaseIterable {
        case begun, ended
        /// A statement of approvers names the key for something else than it was registered for.
        case yielded
    }

    /// The invitations that nobody has used, by their tokens' digests: the digest of the text.
    private(set) var invitations: [Digest: Digest] = [:]
    /// The tokens of all invitations that there ever were: none invites twice.
    private var everInvited: Set<Digest> = []
    /// The passkeys that were registered and not removed, by their keys' digests: the digest of what is stored.
    private(set) var passkeys: [Digest: Digest] = [:]
    /// The apps that passkeys are for, by their keys' digests, also of those that were removed; those of all apps are not
    /// there.
    private var apps: [Digest: Set<AppName>] = [:]
    /// What people may do who sign in, beside reading, by their keys' digests, also of those that were removed.
    private var scopes: [Digest: TokenGrant.Scope] = [:]
    /// What all passkeys were for that were ever registered, by their keys' digests.
    private var purposes: [Digest: PasskeyPurpose] = [:]
    /// The sessions that nobody has ended, by their tokens' digests.
    private(set) var sessions: [Digest: Session] = [:]

    /// Where the pages are, as the server was told when it last started; nil if nobody has said.
    private(set) var pages: RelyingParty?

    /// Takes an entry of the audit.
    mutating func take(_ entry: AuditEntry, _ facts: EntryFacts) throws(ServerError) {
        switch entry.event {
        case .invitation:
            let (token, text) = (try facts.digest("invitation"), try facts.digest("text"))
            guard everInvited.insert(token).inserted else { throw facts.impossible("a new invitation") }
            invitations[token] = text
        case .passkey:
            let passkey = try facts.digest("passkey")
            switch try action(facts) {
            case .begun:
                let (invitation, digest) = (try facts.digest("invitation"), try facts.digest("digest"))
                guard invitations[invitation] != nil, passkeys[passkey] == nil else {
                    throw facts.impossible("a new passkey of somebody who was invited")
                }
                let named = try facts.has("apps") ? facts.text("apps") : nil
                let some = named.flatMap { AppName.set(line: $0.utf8) }
                guard named == nil || some != nil else { throw facts.impossible("names of apps") }
                guard let purpose = PasskeyPurpose(bytes: try facts.text("purpose").utf8) else {
                    throw facts.impossible("what a passkey is for")
                }
                let right = try facts.has("scope") ? facts.text("scope") : nil
                let scope = right.flatMap { TokenGrant.Scope.beyondReading($0.utf8) }
                guard right == nil || scope != nil else { throw facts.impossible("what somebody may do") }
                invitations[invitation] = nil
                passkeys[passkey] = digest
                apps[passkey] = some
                scopes[passkey] = scope
                purposes[passkey] = purpose
            case .ended:
                guard passkeys.removeValue(forKey: passkey) != nil else { throw facts.impossible("a passkey") }
                sessions = sessions.filter { $0.value.passkey != passkey }
            case .yielded:
                let isThere = passkeys.removeValue(forKey: passkey) != nil
                guard apps.removeValue(forKey: passkey) != nil || isThere else { throw facts.impossible("a passkey") }
                sessions = sessions.filter { $0.value.passkey != passkey }
            }
        case .session:
            let session = try facts.digest("session")
            switch try action(facts) {
            case .begun:
                let (passkey, end) = (try facts.digest("passkey"), try facts.number("end"))
                guard passkeys[passkey] != nil, sessions[session] == nil else {
                    throw facts.impossible("a new session with a passkey that is there")
                }
                // Those whose time is over are of no use to anybody.
                sessions = sessions.filter { $0.value.end >= entry.time }
                sessions[session] = Session(passkey: passkey, end: end)
            case .ended:
                guard sessions.removeValue(forKey: session) != nil else { throw facts.impossible("a session") }
            case .yielded: throw facts.impossible("what became of a session")
            }
        case .pages:
            guard let party = RelyingParty(bytes: try facts.text("origin").utf8) else {
                throw facts.impossible("an origin")
            }
            pages = party
        default: break
        }
    }

    /// Whether somebody may approve something of an app. A statement of approvers names those who approve, and an invitation
    /// may have let a passkey do so for certain apps alone. One that says which apps each approves counts only if nobody is
    /// barred here from what it says, so that the statement alone decides then.
    func allows(_ identity: Digest, _ app: AppName) -> Bool { apps[identity]?.contains(app) ?? true }

    /// The apps that somebody may approve something of; nil for all.
    func limits(of identity: Digest) -> Set<AppName>? { apps[identity] }

    /// Whether somebody may approve something of each of some apps; nil for all that there are, and will be.
    func allows(_ identity: Digest, all wanted: Set<AppName>?) -> Bool {
        guard let limits = apps[identity] else { return true }
        return wanted.map(limits.isSuperset) ?? false
    }

    /// Whether a passkey with the key of an approver is registered, or limits of one that was removed are left, and it is
    /// not the approver's.
    /// - Parameters:
    ///   - member: the approver.
    ///   - set: the set that names the approver.
    func hasStranger(_ member: ApproverSet.Member, of set: ApproverSet) -> Bool {
        let identity = member.key.identity
        guard passkeys[identity] != nil || apps[identity] != nil else { return false }
        return !member.isPasskey || purposes[identity] != .approval || isNarrower(member, of: set)
    }

    /// Whether a key was registered for fewer apps than a set says that its owner approves.
    func isNarrower(_ member: ApproverSet.Member, of set: ApproverSet) -> Bool {
        set.bindsApps && !allows(member.key.identity, all: member.apps)
    }

    /// Whether a key may be registered as a passkey for something: one that was, even if it was removed since, is for the
    /// same again, or somebody else changed what it is for.
    func mayRegister(
        _ identity: Digest, for purpose: PasskeyPurpose, _ wanted: Set<AppName>?, _ scope: TokenGrant.Scope
    ) -> Bool {
        purposes[identity].map {
            $0 == purpose && apps[identity] == wanted && (scopes[identity] ?? .read) == scope
        } ?? true
    }

    /// Who may approve nothing of an app, whatever statements of approvers say.
    func barred(from app: AppName) -> Set<Digest> { Set(apps.filter { !$0.value.contains(app) }.keys) }

    /// Whether there ever was an invitation with this token.
    func hasInvited(_ token: Digest) -> Bool { everInvited.contains(token) }

    /// After a backup was restored, nobody is signed in or invited: whoever had a token may have lost it since.
    mutating func endSessions() {
        sessions.removeAll()
        invitations.removeAll()
    }

    private func action(_ facts: EntryFacts) throws(ServerError) -> Action {
        guard let action = Action(bytes: try facts.text("action").utf8) else {
            throw facts.impossible("what became of it")
        }
        return action
    }
}
