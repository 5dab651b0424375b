/// Who approves from now on (`holdfast-approvers-v1`, or `holdfast-approvers-v2` with passkeys). The first statement,
/// the genesis, is signed by all its approvers, and its digest stands in the configuration. Each later one names the
/// digest of the one before it and is signed under that, or by the recovery keys of the genesis.
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
/// With passkeys the first line is `holdfast-approvers-v2`; ` passkey` follows the key of each, and two lines follow the
/// approvers:
///
/// ```text
/// https://pins.example.com                    where passkeys sign
/// key-required                                or passkeys-only, if they are enough
/// ```
public struct ApproverStatement: Sendable, Hashable {
    /// The server that the approvers approve for.
    public let server: RandomID
    /// The place in the chain; 0 is the genesis.
    public let index: Int64
    /// The digest of the statement before; 32 zero octets in the genesis.
    public let previous: Digest
    /// Who approves.
    public let approvers: ApproverSet
    /// Who may replace the approvers if too many of them are lost; only the genesis names them.
    public let recovery: ApproverSet?
    /// The octets to sign.
    public let octets: [UInt8]

    /// What approvals name.
    public var digest: Digest { Digest(of: octets) }

    private static let header = "holdfast-approvers-v1"
    private static let passkeyHeader = "holdfast-approvers-v2"
    private static let passkeyMark = "passkey"
    private static let limit = 128 << 10
    /// More changes of approvers than any server sees.
    static let greatestIndex: Int64 = 1_000_000

    /// The first statement.
    /// - Throws: ``ServerError`` `invalidValue` if a recovery key is an approver too.
    public init(genesisOf server: RandomID, approvers: ApproverSet, recovery: ApproverSet?) throws(ServerError) {
        try self.init(
            server: server, index: 0, previous: .nothing, approvers: approvers, recovery: recovery)
    }

    /// The statement that follows another.
    /// - Throws: ``ServerError`` `invalidValue` at the end of what a chain can have.
    public init(after statement: ApproverStatement, approvers: ApproverSet) throws(ServerError) {
        try self.init(
            server: statement.server, index: statement.index + 1, previous: statement.digest, approvers: approvers,
            recovery: nil)
    }

    private init(
        server: RandomID, index: Int64, previous: Digest, approvers: ApproverSet, recovery: ApproverSet?
    ) throws(ServerError) {
        guard index <= Self.greatestIndex else {
            throw ServerError(
                .invalidValue, of: "index", expected: "at most \(Self.greatestIndex)", found: "\(index)")
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
        self.server = server
        self.index = index
        self.previous = previous
        self.approvers = approvers
        self.recovery = recovery
        let header = approvers.passkeys == nil ? Self.header : Self.passkeyHeader
        var lines = [header, "\(server)", "\(index)", "\(previous)", "\(approvers.number)"]
        lines.append("\(approvers.members.count)")
        lines += approvers.members.map(Self.line)
        if let passkeys = approvers.passkeys { lines += [passkeys.party.origin, passkeys.rule.rawValue] }
        lines.append("\(recovery?.number ?? 0)")
        lines.append("\(recovery?.members.count ?? 0)")
        lines += (recovery?.members ?? []).map(Self.line)
        octets = Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    private static func line(_ member: ApproverSet.Member) -> String {
        let line = "\(member.name) \(Base64.encode(member.key.subjectPublicKeyInfo))"
        return member.isPasskey ? "\(line) \(passkeyMark)" : line
    }

    /// Reads a statement.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, for anything that is not written by the others.
    public init(_ octets: [UInt8]) throws(ServerError) {
        var reader = try LineReader(octets, "statement of approvers", limit: Self.limit)
        let hasPasskeys = try reader.line("header", "\(Self.header) or \(Self.passkeyHeader)") { line -> Bool? in
            if line.elementsEqual(Self.header.utf8) { return false }
            return line.elementsEqual(Self.passkeyHeader.utf8) ? true : nil
        }
        let server = try reader.line("server", "32 hexadecimal digits") { RandomID(hex: $0) }
        let index = try reader.number("index", in: 0...Self.greatestIndex)
        let previous = try reader.line("previous", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
        let most = Int64(ApproverSet.greatestCount)
        let number = try reader.number("number of approvals", in: 1...most)
        let count = try reader.number("count of approvers", in: 1...most)
        let approvers = try Self.members(&reader, count, allowingPasskeys: hasPasskeys)
        let passkeys = try hasPasskeys ? Self.terms(&reader) : nil
        let recoveryNumber = try reader.number("number of recovery keys", in: 0...most)
        let recoveryCount = try reader.number("count of recovery keys", in: 0...most)
        let recovery = try Self.members(&reader, recoveryCount, allowingPasskeys: false)
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
            approvers: ApproverSet(approvers, number: Int(clamping: number), passkeys: passkeys),
            recovery: recovery.isEmpty ? nil : ApproverSet(recovery, number: Int(clamping: recoveryNumber)))
        // Refuses members that are not sorted, and whatever else is not spelled as it would be written.
        guard self.octets == octets else {
            throw ServerError(.malformed, of: "statement of approvers", expected: "the one spelling", found: "another")
        }
    }

    private static func members(
        _ reader: inout LineReader, _ count: Int64, allowingPasskeys: Bool
    ) throws(ServerError) -> [ApproverSet.Member] {
        var members: [ApproverSet.Member] = []
        for _ in 0..<count {
            members.append(
                try reader.line("approver", "a name, a space, and the Base64 of a SubjectPublicKeyInfo") { line in
                    var parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
                    let isPasskey = allowingPasskeys && parts.last?.elementsEqual(passkeyMark.utf8) == true
                    if isPasskey { parts.removeLast() }
                    guard parts.count == 2, let der = Base64.decode(parts[1]), let key = try? ApproverKey(der: der)
                    else { return nil }
                    return ApproverSet.Member(octets: parts[0], key: key, isPasskey: isPasskey)
                })
        }
        return members
    }

    private static func terms(_ reader: inout LineReader) throws(ServerError) -> PasskeyTerms {
        let party = try reader.line("origin", "an origin such as https://pins.example.com") { RelyingParty(octets: $0) }
        let words = PasskeyTerms.Rule.allCases.map(\.rawValue).joined(separator: " or ")
        let rule = try reader.line("rule of passkeys", words) { PasskeyTerms.Rule(octets: $0) }
        return PasskeyTerms(rule, at: party)
    }
}
