/// Keys of people, and how many of them must agree.
public struct ApproverSet: Sendable, Hashable {
    /// A person: a name for people to read, which decides nothing, and the key, which does.
    public struct Member: Sendable, Hashable {
        /// 1 to 64 printable ASCII characters without spaces.
        public let name: String
        /// The key.
        public let key: ApproverKey
        /// Whether the key is a passkey's, which signs what a page shows it.
        public let isPasskey: Bool
        /// The apps whose changes the person approves; nil for all.
        public let apps: Set<AppName>?

        /// More bytes than the names of the apps of one person take, with commas between.
        static let maximumApps = 1_024

        /// Names a key.
        /// - Parameters:
        ///   - name: the person, for people to read.
        ///   - key: the key.
        ///   - isPasskey: whether the key is a passkey's.
        ///   - apps: the apps whose changes the person approves; nil for all.
        /// - Throws: ``ServerError`` `invalidValue`.
        public init(
            name: String, key: ApproverKey, isPasskey: Bool = false, apps: Set<AppName>? = nil
        ) throws(ServerError) {
            guard key.isOfPasskeys || !isPasskey else {
                throw ServerError(
                    .invalidValue, of: "passkey", expected: "a key of P-256 or Ed25519", found: "one of P-384")
            }
            guard Self.fit(apps) else {
                throw ServerError(
                    .invalidValue, of: "apps", expected: "names of 1 to \(Self.maximumApps) characters together",
                    found: "\(apps?.count ?? 0) apps", remedy: "Name fewer apps, or let the person approve all.")
            }
            guard let member = Member(bytes: name.utf8, key: key, isPasskey: isPasskey, apps: apps) else {
                throw ServerError(
                    .invalidValue, of: "name", expected: "1 to 64 printable ASCII characters without spaces",
                    found: "another text of \(name.utf8.count) bytes")
            }
            self = member
        }

        init?(bytes: some Collection<UInt8>, key: ApproverKey, isPasskey: Bool, apps: Set<AppName>?) {
            guard ASCIIText.isPrintable(bytes, 1...64), key.isOfPasskeys || !isPasskey, Self.fit(apps) else {
                return nil
            }
            name = String(decoding: bytes, as: UTF8.self)
            self.key = key
            self.isPasskey = isPasskey
            self.apps = apps
        }

        /// Whether the person approves changes of an app.
        public func approves(_ app: AppName) -> Bool { apps?.contains(app) ?? true }

        /// Whether the person approves changes of each of some apps; nil for all that there are, and will be.
        func approves(all wanted: Set<AppName>?) -> Bool {
            guard let apps else { return true }
            return wanted.map(apps.isSuperset) ?? false
        }

        private static func fit(_ apps: Set<AppName>?) -> Bool {
            apps.map { (1...maximumApps).contains(AppName.line($0).utf8.count) } ?? true
        }
    }

    /// More people than approve anything.
    static let maximumCount = 64

    /// The people, sorted by ``ApproverKey/identity``, each key once.
    public let members: [Member]
    /// How many of them must agree; at least 1, at most all.
    public let number: Int
    /// On what terms the passkeys among them approve; nil if there are none.
    public let passkeys: PasskeyTerms?
    /// Whether what is signed says which apps each of them approves. Otherwise everybody approves all, and only this server
    /// knows for which apps a passkey was made.
    public let bindsApps: Bool

    /// Makes a set.
    ///
    /// Those who approve all apps are enough: a statement of approvers is about all of them, and so every app has enough
    /// people, also one that is made later.
    /// - Parameters:
    ///   - members: the people.
    ///   - number: how many of them must agree.
    ///   - passkeys: on what terms the passkeys among them approve.
    ///   - bindsApps: whether what is signed says which apps each of them approves; it does if one does not approve all.
    /// - Throws: ``ServerError`` `invalidValue` for no or too many members, a key or a name twice, a number of 0 or of more
    ///   than there are for each app, and terms of passkeys without any, or that nobody can meet.
    public init(
        _ members: [Member], number: Int, passkeys: PasskeyTerms? = nil, bindsApps: Bool = false
    ) throws(ServerError) {
        guard (1...Self.maximumCount).contains(members.count) else {
            throw ServerError(
                .invalidValue, of: "approvers", expected: "1 to \(Self.maximumCount)", found: "\(members.count)")
        }
        guard Set(members.map(\.key.identity)).count == members.count else {
            throw ServerError(
                .invalidValue, of: "approvers", expected: "each key once", found: "one twice",
                remedy: "Name each person once; one key is one person.")
        }
        guard Set(members.map { Array($0.name.utf8) }).count == members.count else {
            throw ServerError(.invalidValue, of: "approvers", expected: "each name once", found: "one twice")
        }
        guard (1...members.count).contains(number) else {
            throw ServerError(
                .invalidValue, of: "number of approvals", expected: "1 to \(members.count)", found: "\(number)")
        }
        guard members.contains(where: \.isPasskey) == (passkeys != nil) else {
            throw ServerError(
                .invalidValue, of: "passkeys", expected: "terms if there are passkeys, and none otherwise",
                found: passkeys == nil ? "no terms" : "no passkey")
        }
        let everywhere = members.filter { $0.apps == nil }
        guard everywhere.count >= number else {
            throw ServerError(
                .invalidValue, of: "approvers", expected: "as many who approve all apps as must agree: \(number)",
                found: "\(everywhere.count)", remedy: "Let more people approve all apps, or fewer be needed.")
        }
        guard passkeys?.rule != .keyRequired || everywhere.contains(where: { !$0.isPasskey }) else {
            throw ServerError(
                .invalidValue, of: "approvers", expected: "somebody with a key file or a signer program, for all apps",
                found: "passkeys only", remedy: "Name such a key too: each change needs one of them.")
        }
        self.members = members.sorted { $0.key.identity.bytes.lexicographicallyPrecedes($1.key.identity.bytes) }
        self.number = number
        self.passkeys = passkeys
        self.bindsApps = bindsApps || everywhere.count < members.count
    }

    /// The same people, on the same terms, with what is signed saying which apps they approve.
    func bindingApps() throws(ServerError) -> ApproverSet {
        try ApproverSet(members, number: number, passkeys: passkeys, bindsApps: true)
    }

    /// The member with a key of this digest.
    public func member(_ identity: Digest) -> Member? { members.first { $0.key.identity == identity } }

    /// Whether what somebody signs for an earlier set counts for this one too: with the same key, and, if it is a passkey's,
    /// on the same page.
    func hasUnchanged(_ identity: Digest, since earlier: ApproverSet) -> Bool {
        guard let member = member(identity), let before = earlier.member(identity),
            member.isPasskey == before.isPasskey
        else { return false }
        return !member.isPasskey || passkeys?.party == earlier.passkeys?.party
    }

    /// Requires that, unless passkeys are enough, one of those who agree has another key.
    /// - Throws: ``ServerError`` `notApproved`.
    func requireKey(among agreeing: Set<Digest>, of subject: String) throws(ServerError) {
        guard passkeys?.rule == .keyRequired, !agreeing.contains(where: { member($0)?.isPasskey == false }) else {
            return
        }
        throw ServerError(
            .notApproved, of: subject, expected: "one signature with a key file or by a signer program",
            found: "passkeys only",
            remedy: "Another approver must decide with a key file, as holdfast-server approve --key does.")
    }

    /// How many members signed a text. A signature that does not verify, and one by somebody else, are refused rather
    /// than ignored: somebody meant them to count.
    ///
    /// A passkey signs by its ``PasskeyEvidence`` and in no other way, and no other key signs by that.
    func signers(of text: [UInt8], _ signatures: some Sequence<ApproverSignature>) throws(ServerError) -> Set<Digest> {
        var signers: Set<Digest> = []
        for signature in signatures {
            guard let member = member(signature.identity), try verifies(signature.signature, by: member, over: text)
            else {
                throw ServerError(
                    .invalidSignature, expected: "a signature by an approver of this set",
                    found: "one that says \(signature.identity)")
            }
            signers.insert(signature.identity)
        }
        return signers
    }

    private func verifies(_ signature: [UInt8], by member: Member, over text: [UInt8]) throws(ServerError) -> Bool {
        guard member.isPasskey else { return member.key.verifies(signature, over: text) }
        let evidence = try PasskeyEvidence(signature)
        guard let passkeys, evidence.key == member.key else { return false }
        try evidence.verified(over: text, at: passkeys.party)
        return true
    }
}
