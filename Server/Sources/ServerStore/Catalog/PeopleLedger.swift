package import ServerApprovals
package import ServerFoundation
package import ServerModel

/// The invitations, passkeys, sessions and the origin of the pages, from the audit.
package struct PeopleLedger: Sendable {
    /// A session of a person.
    package struct Session: Sendable, Hashable {
        /// The passkey that signed in.
        let passkey: Digest
        /// The last second at which it is valid, in seconds since 1970.
        let end: Int64
    }

    /// An action on a passkey or a session.
    enum Action: String, Sendable, Hashable, CaseIterable {
        case begun, ended
        /// Removed, because a statement of approvers names the key for another purpose than it was registered for.
        case yielded
    }

    /// The unused invitations: the digest of the text, by the digest of the token.
    package private(set) var invitations: [Digest: Digest] = [:]
    /// The tokens of all invitations ever: a token invites only once.
    private var everInvited: Set<Digest> = []
    /// The passkeys that were registered and not removed: the digest of the stored row, by the digest of the key.
    package private(set) var passkeys: [Digest: Digest] = [:]
    /// The apps of passkeys, by the digest of the key, including removed passkeys but not those for all apps.
    private var apps: [Digest: Set<AppName>] = [:]
    /// The permissions of people who sign in, beyond reading, by the digest of the key, including removed passkeys.
    private var scopes: [Digest: TokenGrant.Scope] = [:]
    /// The purposes of all passkeys ever registered, by the digest of the key.
    private var purposes: [Digest: PasskeyPurpose] = [:]
    /// The sessions that have not ended, by the digest of the token.
    package private(set) var sessions: [Digest: Session] = [:]

    /// The origin of the pages at the last start of the server; nil if unknown.
    package private(set) var pages: RelyingParty?

    /// Applies an entry of the audit.
    package mutating func take(_ entry: AuditEntry, _ facts: EntryFacts) throws(ServerError) {
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
                    throw facts.impossible("a new passkey with an open invitation")
                }
                let named = try facts.has("apps") ? facts.text("apps") : nil
                let some = named.flatMap { AppName.set(line: $0.utf8) }
                guard named == nil || some != nil else { throw facts.impossible("names of apps") }
                guard let purpose = PasskeyPurpose(bytes: try facts.text("purpose").utf8) else {
                    throw facts.impossible("the purpose of a passkey")
                }
                let right = try facts.has("scope") ? facts.text("scope") : nil
                let scope = right.flatMap { TokenGrant.Scope.beyondReading($0.utf8) }
                guard right == nil || scope != nil else { throw facts.impossible("a scope that a passkey can have") }
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
                // Expired sessions are not needed anymore.
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

    /// Whether an approver may approve changes of an app. A statement of approvers names the approvers, and an
    /// invitation may have limited a passkey to certain apps. A statement that limits approvers to apps comes into
    /// force only if no limit here contradicts it, so the statement alone decides then.
    package func allows(_ identity: Digest, _ app: AppName) -> Bool { apps[identity]?.contains(app) ?? true }

    /// The apps that an approver may approve changes of; nil for all.
    package func limits(of identity: Digest) -> Set<AppName>? { apps[identity] }

    /// Whether an approver may approve changes of each of some apps; nil for all present and future apps.
    package func allows(_ identity: Digest, all wanted: Set<AppName>?) -> Bool {
        guard let limits = apps[identity] else { return true }
        return wanted.map(limits.isSuperset) ?? false
    }

    /// Whether a registration with the key of an approver, or the limits of a removed one, do not match the approver.
    /// - Parameters:
    ///   - member: the approver.
    ///   - set: the set that names the approver.
    func hasStranger(_ member: ApproverSet.Member, of set: ApproverSet) -> Bool {
        let identity = member.key.identity
        guard passkeys[identity] != nil || apps[identity] != nil else { return false }
        return !member.isPasskey || purposes[identity] != .approval || isNarrower(member, of: set)
    }

    /// Whether a key was registered for fewer apps than a set names for its owner.
    func isNarrower(_ member: ApproverSet.Member, of set: ApproverSet) -> Bool {
        set.bindsApps && !allows(member.key.identity, all: member.apps)
    }

    /// Whether a key may be registered as a passkey for a purpose. A key that was registered before, even if it was
    /// removed since, keeps its purpose, or another person could change it.
    func mayRegister(
        _ identity: Digest, for purpose: PasskeyPurpose, _ wanted: Set<AppName>?, _ scope: TokenGrant.Scope
    ) -> Bool {
        purposes[identity].map {
            $0 == purpose && apps[identity] == wanted && (scopes[identity] ?? .read) == scope
        } ?? true
    }

    /// The approvers who may approve no changes of an app, no matter what statements of approvers say.
    package func barred(from app: AppName) -> Set<Digest> { Set(apps.filter { !$0.value.contains(app) }.keys) }

    /// Whether an invitation with this token ever existed.
    func hasInvited(_ token: Digest) -> Bool { everInvited.contains(token) }

    /// Ends all sessions and invitations after a backup was restored: a holder of a token may have lost it since the
    /// backup.
    package mutating func endSessions() {
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
