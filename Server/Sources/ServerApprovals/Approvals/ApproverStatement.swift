package import ServerFoundation

/// A statement of the approvers in force from now on (`holdfast-approvers-v1`, `holdfast-approvers-v2` with passkeys,
/// or `holdfast-approvers-v3` with the apps of each). The first statement, the genesis, is signed by all its approvers,
/// and the configuration contains its digest. Each later one names the digest of the one before it and is signed by the
/// approvers of that one, or by the recovery keys of the genesis.
///
/// ```text
/// holdfast-approvers-v1
/// 0f1e2d3c4b5a69788796a5b4c3d2e1f0            server
/// 0                                           place in the chain
/// (64 hexadecimal digits)                     SHA-256 of the statement before; zeros in the genesis
/// 2                                           how many approvals a change needs
/// 3                                           how many approvers follow
/// alice MCowBQYDK2VwAyEA…                     name and SubjectPublicKeyInfo, sorted by SHA-256 of the latter
/// …
/// 2                                           how many recovery keys must sign; 0 for none
/// 3                                           how many recovery keys follow; only in the genesis
/// vault-1 MCowBQYDK2VwAyEA…
/// …
/// ```
/// With passkeys the first line is `holdfast-approvers-v2`; ` passkey` follows the key of each, and two lines follow
/// the approvers:
///
/// ```text
/// https://pins.example.com                    where passkeys sign
/// key-required                                or passkeys-only, if they are enough
/// ```
///
/// With the apps of each the first line is `holdfast-approvers-v3`. After the key of each approver, and before `
/// passkey`, come a space and `*` for all apps, or the sorted names of the only apps whose changes that person
/// approves, such as `bank,shop`. The two lines about passkeys follow only if there are passkeys. The format of
/// recovery keys is unchanged.
package struct ApproverStatement: Sendable, Hashable {
    /// The server that the approvers approve for.
    package let server: RandomID
    /// The place in the chain; 0 is the genesis.
    package let index: Int64
    /// The digest of the statement before; 32 zero bytes in the genesis.
    package let previous: Digest
    /// The approvers and how many of them must agree.
    package let approvers: ApproverSet
    /// The recovery keys that may replace the approvers if too many of them are lost; only the genesis names them.
    package let recovery: ApproverSet?
    /// The bytes to sign.
    package let bytes: [UInt8]

    /// The digest that approvals name.
    package var digest: Digest { Digest(of: bytes) }

    /// The version of the format. Each statement uses the oldest version that can express it, so older programs can
    /// read it.
    private enum Version: String, CaseIterable {
        case plain = "holdfast-approvers-v1"
        case passkeys = "holdfast-approvers-v2"
        case apps = "holdfast-approvers-v3"

        init(_ approvers: ApproverSet) {
            self = approvers.bindsApps ? .apps : approvers.passkeys == nil ? .plain : .passkeys
        }
    }

    private static let passkeyMark = "passkey"
    private static let allApps = "*"
    private static let limit = 128 << 10
    /// Maximum index of a statement.
    static let maximumIndex: Int64 = 1_000_000

    /// The first statement.
    /// - Throws: ``ServerError`` `invalidValue` if a recovery key is an approver too.
    package init(genesisOf server: RandomID, approvers: ApproverSet, recovery: ApproverSet?) throws(ServerError) {
        try self.init(
            server: server, index: 0, previous: .nothing, approvers: approvers, recovery: recovery)
    }

    /// The statement that follows another. If that one limits approvers to apps, so does this one.
    /// - Throws: ``ServerError`` `invalidValue` if the chain has reached its maximum length.
    package init(after statement: ApproverStatement, approvers: ApproverSet) throws(ServerError) {
        try self.init(
            server: statement.server, index: statement.index + 1, previous: statement.digest,
            approvers: statement.approvers.bindsApps ? approvers.bindingApps() : approvers, recovery: nil)
    }

    private init(
        server: RandomID, index: Int64, previous: Digest, approvers: ApproverSet, recovery: ApproverSet?
    ) throws(ServerError) {
        guard index <= Self.maximumIndex else {
            throw ServerError(
                .invalidValue, of: "index", expected: "at most \(Self.maximumIndex)", found: "\(index)")
        }
        if let recovery, let both = recovery.members.first(where: { approvers.member($0.key.identity) != nil }) {
            throw ServerError(
                .invalidValue, of: "recovery keys", expected: "keys that do not approve", found: both.name,
                remedy: "Make recovery keys of their own, and keep them offline.")
        }
        guard recovery?.passkeys == nil else {
            throw ServerError(
                .invalidValue, of: "recovery keys", expected: "keys in files", found: "passkeys",
                remedy: "Make recovery keys with holdfastctl keygen, and keep them offline.")
        }
        guard recovery?.bindsApps != true else {
            throw ServerError(
                .invalidValue, of: "recovery keys", expected: "keys that replace the approvers of all apps",
                found: "keys for certain apps", remedy: "Name recovery keys without apps.")
        }
        self.server = server
        self.index = index
        self.previous = previous
        self.approvers = approvers
        self.recovery = recovery
        let version = Version(approvers)
        var lines = [version.rawValue, "\(server)", "\(index)", "\(previous)", "\(approvers.number)"]
        lines.append("\(approvers.members.count)")
        lines += approvers.members.map { Self.line($0, version) }
        if let passkeys = approvers.passkeys { lines += [passkeys.party.origin, passkeys.rule.rawValue] }
        lines.append("\(recovery?.number ?? 0)")
        lines.append("\(recovery?.members.count ?? 0)")
        lines += (recovery?.members ?? []).map { Self.line($0, .plain) }
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    private static func line(_ member: ApproverSet.Member, _ version: Version) -> String {
        var words = [member.name, Base64.encode(member.key.subjectPublicKeyInfo)]
        if version == .apps { words.append(member.apps.map(AppName.line) ?? allApps) }
        if member.isPasskey { words.append(passkeyMark) }
        return words.joined(separator: " ")
    }

    /// Reads a statement.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, for anything that the other initializers do not write.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var reader = try LineReader(bytes, "statement of approvers", limit: Self.limit)
        let headers = Version.allCases.map(\.rawValue).joined(separator: " or ")
        let version = try reader.line("header", headers) { line in
            Version.allCases.first { line.elementsEqual($0.rawValue.utf8) }
        }
        let server = try reader.line("server", "32 hexadecimal digits") { RandomID(hex: $0) }
        let index = try reader.number("index", in: 0...Self.maximumIndex)
        let previous = try reader.line("previous", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
        let most = Int64(ApproverSet.maximumCount)
        let number = try reader.number("number of approvals", in: 1...most)
        let count = try reader.number("count of approvers", in: 1...most)
        let approvers = try Self.members(&reader, count, version)
        let hasTerms = version == .passkeys || approvers.contains(where: \.isPasskey)
        let passkeys = try hasTerms ? Self.terms(&reader) : nil
        let recoveryNumber = try reader.number("number of recovery keys", in: 0...most)
        let recoveryCount = try reader.number("count of recovery keys", in: 0...most)
        let recovery = try Self.members(&reader, recoveryCount, .plain)
        try reader.finish()
        guard (index == 0) == (previous == .nothing), index == 0 || recovery.isEmpty,
            recovery.isEmpty == (recoveryNumber == 0)
        else {
            throw ServerError(
                .malformed, of: "statement of approvers",
                expected: "a genesis, or a statement that follows one and names no recovery keys", found: "a mixture")
        }
        try self.init(
            server: server, index: index, previous: previous,
            approvers: ApproverSet(
                approvers, number: Int(clamping: number), passkeys: passkeys, bindsApps: version == .apps),
            recovery: recovery.isEmpty ? nil : ApproverSet(recovery, number: Int(clamping: recoveryNumber)))
        // Rejects unsorted members and any other spelling than the canonical one.
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "statement of approvers", expected: "the one spelling", found: "another")
        }
    }

    private static func members(
        _ reader: inout LineReader, _ count: Int64, _ version: Version
    ) throws(ServerError) -> [ApproverSet.Member] {
        let apps = version == .apps ? ", a space, and \(allApps) or sorted names of apps" : ""
        var members: [ApproverSet.Member] = []
        for _ in 0..<count {
            members.append(
                try reader.line("approver", "a name, a space, and the Base64 of a SubjectPublicKeyInfo\(apps)") {
                    member($0, version)
                })
        }
        return members
    }

    private static func member(_ line: ArraySlice<UInt8>, _ version: Version) -> ApproverSet.Member? {
        var parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        // The number of words identifies each: an app may be named passkey too.
        let usual = version == .apps ? 3 : 2
        let isPasskey = version != .plain && parts.count == usual + 1
        if isPasskey, !parts.removeLast().elementsEqual(passkeyMark.utf8) { return nil }
        guard parts.count == usual, let der = Base64.decode(parts[1]), let key = try? ApproverKey(der: der) else {
            return nil
        }
        var apps: Set<AppName>?
        if version == .apps, !parts[2].elementsEqual(allApps.utf8) {
            guard let some = AppName.set(line: parts[2]) else { return nil }
            apps = some
        }
        return ApproverSet.Member(bytes: parts[0], key: key, isPasskey: isPasskey, apps: apps)
    }

    private static func terms(_ reader: inout LineReader) throws(ServerError) -> PasskeyTerms {
        let party = try reader.line("origin", "an origin such as https://pins.example.com") { RelyingParty(bytes: $0) }
        let words = PasskeyTerms.Rule.allCases.map(\.rawValue).joined(separator: " or ")
        let rule = try reader.line("rule of passkeys", words) { PasskeyTerms.Rule(bytes: $0) }
        return PasskeyTerms(rule, at: party)
    }
}
