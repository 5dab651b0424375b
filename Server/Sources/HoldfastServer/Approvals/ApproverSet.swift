/// Keys of people, and how many of them must agree.
public struct ApproverSet: Sendable, Hashable {
    /// A person: a name for people to read, which decides nothing, and the key, which does.
    public struct Member: Sendable, Hashable {
        /// 1 to 64 printable ASCII characters without spaces.
        public let name: String
        /// The key.
        public let key: ApproverKey

        /// Names a key.
        /// - Throws: ``ServerError`` `invalidValue`.
        public init(name: String, key: ApproverKey) throws(ServerError) {
            guard let member = Member(octets: name.utf8, key: key) else {
                throw ServerError(
                    .invalidValue, of: "name", expected: "1 to 64 printable ASCII characters without spaces",
                    found: "another text of \(name.utf8.count) octets")
            }
            self = member
        }

        init?(octets: some Collection<UInt8>, key: ApproverKey) {
            guard ASCIIText.isPrintable(octets, 1...64) else { return nil }
            name = String(decoding: octets, as: UTF8.self)
            self.key = key
        }
    }

    /// More people than approve anything.
    static let greatestCount = 64

    /// The people, sorted by ``ApproverKey/identity``, each key once.
    public let members: [Member]
    /// How many of them must agree; at least 1, at most all.
    public let number: Int

    /// Makes a set.
    /// - Throws: ``ServerError`` `invalidValue` for no or too many members, a key or a name twice, and a number of 0 or of
    ///   more than there are.
    public init(_ members: [Member], number: Int) throws(ServerError) {
        guard (1...Self.greatestCount).contains(members.count) else {
            throw ServerError(
                .invalidValue, of: "approvers", expected: "1 to \(Self.greatestCount)", found: "\(members.count)")
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
        self.members = members.sorted { $0.key.identity.octets.lexicographicallyPrecedes($1.key.identity.octets) }
        self.number = number
    }

    /// The member with a key of this digest.
    public func member(_ identity: Digest) -> Member? { members.first { $0.key.identity == identity } }

    /// How many members signed a text. A signature that does not verify, and one by somebody else, are refused rather
    /// than ignored: somebody meant them to count.
    func signers(of text: [UInt8], _ signatures: some Sequence<ApproverSignature>) throws(ServerError) -> Set<Digest> {
        var signers: Set<Digest> = []
        for signature in signatures {
            guard let member = member(signature.identity), member.key.verifies(signature.signature, over: text) else {
                throw ServerError(
                    .invalidSignature, expected: "a signature by an approver of this set",
                    found: "one that says \(signature.identity)")
            }
            signers.insert(signature.identity)
        }
        return signers
    }
}
