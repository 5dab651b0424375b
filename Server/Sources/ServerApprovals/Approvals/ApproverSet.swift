package import ServerFoundation

/// Keys of people, and how many of them must agree.
package struct ApproverSet: Sendable, Hashable {
    /// A person: a name for display only, and the key that identifies the person.
    package struct Member: Sendable, Hashable {
        /// 1 to 64 printable ASCII characters without spaces.
        package let name: String
        /// The key.
        package let key: ApproverKey
        /// Whether the key is a passkey's, which signs the data that a page passes to it.
        package let isPasskey: Bool
        /// The apps whose changes the person approves; nil for all.
        package let apps: Set<AppName>?

        /// Maximum size in bytes of one person's app names, separated by commas.
        static let maximumApps = 1_024

        /// Names a key.
        /// - Parameters:
        ///   - name: the person, for people to read.
        ///   - key: the key.
        ///   - isPasskey: whether the key is a passkey's.
        ///   - apps: the apps whose changes the person approves; nil for all.
        /// - Throws: ``ServerError`` `invalidValue`.
        package init(
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

        package init?(bytes: some Collection<UInt8>, key: ApproverKey, isPasskey: Bool, apps: Set<AppName>?) {
            guard ASCIIText.isPrintable(bytes, 1...64), key.isOfPasskeys || !isPasskey, Self.fit(apps) else {
                return nil
            }
            name = String(decoding: bytes, as: UTF8.self)
            self.key = key
            self.isPasskey = isPasskey
            self.apps = apps
        }

        /// Whether the person approves changes of an app.
        package func approves(_ app: AppName) -> Bool { apps?.contains(app) ?? true }

        /// Whether the person approves changes of each of some apps; nil for all present and future apps.
        package func approves(all wanted: Set<AppName>?) -> Bool {
            guard let apps else { return true }
            return wanted.map(apps.isSuperset) ?? false
        }

        private static func fit(_ apps: Set<AppName>?) -> Bool {
            apps.map { (1...maximumApps).contains(AppName.line($0).utf8.count) } ?? true
        }
    }

    /// Maximum number of approvers.
    package static let maximumCount = 64

    /// The people, sorted by ``ApproverKey/identity``, each key once.
    package let members: [Member]
    /// How many of them must agree; at least 1, at most all.
    package let number: Int
    /// The terms for passkeys among them; nil if they have none.
    package let passkeys: PasskeyTerms?
    /// Whether the signed statement names the apps of each approver. Otherwise every approver approves all apps, and
    /// only this server knows for which apps a passkey was made.
    package let bindsApps: Bool

    /// Makes a set.
    ///
    /// At least `number` people must approve all apps: a statement of approvers affects all apps, and an app added
    /// later needs enough approvers too.
    /// - Parameters:
    ///   - members: the people.
    ///   - number: how many of them must agree.
    ///   - passkeys: the terms for the passkeys among them.
    ///   - bindsApps: whether the signed statement names the apps of each; always true if one does not approve all.
    /// - Throws: ``ServerError`` `invalidValue` for no or too many members, a key or a name twice, a number of 0 or
    ///   above the number of people who approve all apps, and terms of passkeys that no set of members can meet or
    ///   without any passkey.
    package init(
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
                .invalidValue, of: "approvers", expected: "an approver of all apps with a key file or a signer program",
                found: "passkeys only", remedy: "Name such a key too: each change needs one of them.")
        }
        self.members = members.sorted { $0.key.identity.bytes.lexicographicallyPrecedes($1.key.identity.bytes) }
        self.number = number
        self.passkeys = passkeys
        self.bindsApps = bindsApps || everywhere.count < members.count
    }

    /// The same people on the same terms, with the apps of each in the signed statement.
    func bindingApps() throws(ServerError) -> ApproverSet {
        try ApproverSet(members, number: number, passkeys: passkeys, bindsApps: true)
    }

    /// The member with a key of this digest.
    package func member(_ identity: Digest) -> Member? { members.first { $0.key.identity == identity } }

    /// Whether a signature for an earlier set is valid for this one too: it must be by the same key and, for a passkey,
    /// on the same page.
    func hasUnchanged(_ identity: Digest, since earlier: ApproverSet) -> Bool {
        guard let member = member(identity), let before = earlier.member(identity),
            member.isPasskey == before.isPasskey
        else { return false }
        return !member.isPasskey || passkeys?.party == earlier.passkeys?.party
    }

    /// Requires a signature by a key that is not a passkey's, unless passkeys are enough.
    /// - Throws: ``ServerError`` `notApproved`.
    package func requireKey(among agreeing: Set<Digest>, of subject: String) throws(ServerError) {
        guard passkeys?.rule == .keyRequired, !agreeing.contains(where: { member($0)?.isPasskey == false }) else {
            return
        }
        throw ServerError(
            .notApproved, of: subject, expected: "one signature with a key file or by a signer program",
            found: "passkeys only",
            remedy: "Another approver must decide with a key file, as holdfast-server approve --key does.")
    }

    /// The members who signed a text. An invalid signature, and one by a key that is not a member's, is an error and
    /// not ignored: its sender expected it to be valid.
    ///
    /// A passkey signs only with its ``PasskeyEvidence``, and other keys never do.
    package func signers(of text: [UInt8], _ signatures: some Sequence<ApproverSignature>) throws(ServerError) -> Set<
        Digest
    > {
        var signers: Set<Digest> = []
        for signature in signatures {
            guard let member = member(signature.identity), try verifies(signature.signature, by: member, over: text)
            else {
                throw ServerError(
                    .invalidSignature, expected: "a signature by an approver of this set",
                    found: "one that names \(signature.identity)")
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
