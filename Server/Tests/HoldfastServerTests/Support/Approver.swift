import Crypto
import Foundation

@testable import ServerApprovals
@testable import ServerFoundation

/// A person with a private key, the same in every run.
struct Approver: Sendable, Hashable {
    let name: String
    let isEd25519: Bool
    private let scalar: [UInt8]

    /// - Parameters:
    ///   - name: of the person.
    ///   - number: which key: 1 to 255.
    init(_ name: String, _ number: UInt8, isEd25519: Bool = true) {
        self.name = name
        self.isEd25519 = isEd25519
        scalar = [UInt8](repeating: 0, count: 31) + [number]
    }

    static let alice = Approver("alice", 1)
    static let bob = Approver("bob", 2, isEd25519: false)
    static let carol = Approver("carol", 3)
    static let dave = Approver("dave", 4)
    static let mallory = Approver("mallory", 66)
    static let vaults = [Approver("vault-1", 11), Approver("vault-2", 12), Approver("vault-3", 13)]

    var key: ApproverKey {
        get throws {
            isEd25519
                ? try ApproverKey(
                    printed: Curve25519.Signing.PrivateKey(rawRepresentation: scalar).publicKey.rawRepresentation
                        .base64EncodedString())
                : try ApproverKey(
                    der: Array(try P256.Signing.PrivateKey(rawRepresentation: scalar).publicKey.derRepresentation))
        }
    }

    /// The private key, as its file has it: that of Ed25519 by RFC 8410 7.
    var pem: String {
        get throws {
            guard isEd25519 else { return try P256.Signing.PrivateKey(rawRepresentation: scalar).pemRepresentation }
            let der: [UInt8] = [
                0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
            ]
            let text = Data(der + scalar).base64EncodedString()
            return "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n"
        }
    }

    var member: ApproverSet.Member { get throws { try ApproverSet.Member(name: name, key: key) } }

    /// The same person, who approves certain apps alone: their names, with commas between.
    func limited(to names: String) throws -> ApproverSet.Member {
        try ApproverSet.Member(
            name: name, key: key, apps: Set(names.split(separator: ",").map { try AppName(String($0)) }))
    }

    var identity: ServerFoundation.Digest { get throws { try key.identity } }

    func signature(of text: [UInt8]) throws -> ApproverSignature {
        let bytes =
            isEd25519
            ? Array(try Curve25519.Signing.PrivateKey(rawRepresentation: scalar).signature(for: text))
            : Array(try P256.Signing.PrivateKey(rawRepresentation: scalar).signature(for: text).derRepresentation)
        return ApproverSignature(identity: try identity, signature: bytes)
    }

    func says(
        _ verdict: ApprovalText.Verdict, _ subject: ApprovalText.Subject, until end: Int64 = Story.end
    ) throws -> SignedApproval {
        let text = try ApprovalText(verdict, subject, end: end).bytes
        return SignedApproval(text: text, signature: try signature(of: text))
    }
}

extension [Approver] {
    func sign(_ statement: ApproverStatement) throws -> SignedApprovers {
        SignedApprovers(text: statement.bytes, signatures: try map { try $0.signature(of: statement.bytes) })
    }
}

/// One server with three approvers, two of whom must agree, and a change.
struct Story {
    static let now: Int64 = 1_795_000_000
    static let end: Int64 = now + 86_400
    static let server = id(0xA0)

    let genesis: SignedApprovers
    let chain: ApproverChain
    let subject: ApprovalText.Subject

    init(number: Int = 2, approvers: [Approver] = [.alice, .bob, .carol], recovery: [Approver] = Approver.vaults) throws
    {
        let statement = try ApproverStatement(
            genesisOf: Self.server,
            approvers: ApproverSet(try approvers.map { try $0.member }, number: number),
            recovery: recovery.isEmpty ? nil : ApproverSet(try recovery.map { try $0.member }, number: 2))
        genesis = try approvers.sign(statement)
        chain = try ApproverChain(genesis: genesis, digest: statement.digest, server: Self.server)
        subject = try Self.subject(chain)
    }

    static func subject(
        _ chain: ApproverChain, server: RandomID = server, app: String = "bank", change: UInt8 = 0xC0, base: Int64 = 41,
        content: String = "content", outlook: String = "outlook", forced: Set<Gate> = []
    ) throws -> ApprovalText.Subject {
        try ApprovalText.Subject(
            server: server, app: AppName(app), change: id(change), baseGeneration: base,
            content: Digest(of: content.utf8), outlook: Digest(of: outlook.utf8), forced: forced,
            approvers: chain.head.digest)
    }

    static func id(_ byte: UInt8) -> RandomID {
        var generator = RepeatedByte(byte: byte)
        return RandomID(using: &generator)
    }
}

/// Random bytes that are all the same.
struct RepeatedByte: RandomNumberGenerator {
    let byte: UInt8

    mutating func next() -> UInt64 { UInt64(byte) * 0x0101_0101_0101_0101 }
}

/// A small generator whose numbers are the same in every run (xorshift).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
