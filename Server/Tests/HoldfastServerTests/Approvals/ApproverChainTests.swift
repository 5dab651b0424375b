import Crypto
import Foundation
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerStore

@Suite("Chain of approvers")
struct ApproverChainTests {
    private func set(_ approvers: [Approver], _ number: Int = 2) throws -> ApproverSet {
        try ApproverSet(try approvers.map { try $0.member }, number: number)
    }

    @Test("A chain that was signed at each step names its last approvers")
    func chain() throws {
        let story = try Story()
        let second = try ApproverStatement(after: story.chain.head, approvers: try set([.alice, .bob, .carol, .dave]))
        let third = try ApproverStatement(after: second, approvers: try set([.bob, .dave]))
        let signed = try [
            story.genesis, [Approver.alice, .bob, .dave].sign(second), [Approver.alice, .carol].sign(third),
        ]
        let chain = try ApproverChain(
            signed, genesis: story.chain.head.digest, server: Story.server, known: story.chain.mark)
        #expect(chain.head == third)
        #expect(chain.mark == .init(index: 2, digest: third.digest))
        #expect(try ApproverStatement(third.bytes) == third)
        #expect(try ApproverStatement(story.genesis.text) == story.chain.head)
    }

    @Test("A genesis needs the signatures of all its approvers, and the digest of the configuration")
    func genesis() throws {
        let story = try Story()
        let statement = story.chain.head
        expectError(.notApproved) {
            try ApproverChain(
                genesis: [Approver.alice, .bob].sign(statement), digest: statement.digest, server: Story.server)
        }
        let other = try ApproverStatement(
            genesisOf: Story.server, approvers: try set([.mallory, .dave]), recovery: nil)
        expectError(.brokenChain) {
            try ApproverChain(
                genesis: [Approver.mallory, .dave].sign(other), digest: statement.digest, server: Story.server)
        }
        expectError(.notForThis) {
            try ApproverChain(genesis: story.genesis, digest: statement.digest, server: Story.id(0xB0))
        }
    }

    @Test("An approver that somebody inserted does not count: neither in the genesis, nor in a later statement")
    func insertion() throws {
        let story = try Story()
        let inserted = try ApproverStatement(
            after: story.chain.head, approvers: try set([.alice, .bob, .carol, .mallory]))
        for signers: [Approver] in [[.mallory], [.alice, .mallory], [.alice]] {
            var chain = story.chain
            expectError(.notApproved) { try chain.append(signers.sign(inserted)) }
            #expect(chain == story.chain)
        }
        // The signature of one, said to be another's.
        var chain = story.chain
        let own = try Approver.mallory.signature(of: inserted.bytes)
        let forged = ApproverSignature(identity: try Approver.bob.identity, signature: own.signature)
        expectError(.invalidSignature) {
            try chain.append(
                SignedApprovers(
                    text: inserted.bytes, signatures: [try Approver.alice.signature(of: inserted.bytes), forged]))
        }
    }

    @Test("The number is lowered only by as many as it says, and never to 0")
    func lowering() throws {
        let story = try Story()
        let lowered = try ApproverStatement(after: story.chain.head, approvers: try set([.alice, .bob, .carol], 1))
        var chain = story.chain
        expectError(.notApproved) { try chain.append([Approver.alice].sign(lowered)) }
        // One signature twice is one person.
        expectError(.notApproved) { try chain.append([Approver.alice, .alice].sign(lowered)) }
        try chain.append([Approver.alice, .carol].sign(lowered))
        for number in [0, -1, 4] { expectError(.invalidValue) { try set([.alice, .bob, .carol], number) } }
        let zero = String(decoding: lowered.bytes, as: UTF8.self).replacing(
            "\n1\n3\n", with: "\n0\n3\n", maxReplacements: 1)
        expectError(.malformed) { try ApproverStatement(Array(zero.utf8)) }
    }

    @Test("An older set that is put back is noticed by what is known outside")
    func restoring() throws {
        let story = try Story()
        let second = try ApproverStatement(after: story.chain.head, approvers: try set([.alice, .bob]))
        var chain = story.chain
        try chain.append([Approver.alice, .bob].sign(second))
        expectError(.brokenChain) {
            try ApproverChain(
                [story.genesis], genesis: story.chain.head.digest, server: Story.server, known: chain.mark)
        }
        // Another second statement, which is validly signed as well.
        let fork = try ApproverStatement(after: story.chain.head, approvers: try set([.bob, .carol]))
        expectError(.brokenChain) {
            try ApproverChain(
                [story.genesis, try [Approver.bob, .carol].sign(fork)], genesis: story.chain.head.digest,
                server: Story.server, known: chain.mark)
        }
        // The same statement once more, or one that skips a place.
        expectError(.brokenChain) { try chain.append([Approver.alice, .bob].sign(second)) }
        let skipped = try ApproverStatement(
            after: ApproverStatement(after: second, approvers: try set([.alice, .bob])),
            approvers: try set([.alice, .bob]))
        expectError(.brokenChain) { try chain.append([Approver.alice, .bob].sign(skipped)) }
    }

    @Test("A new approver signs too, so that no key is named that nobody has")
    func possession() throws {
        let story = try Story()
        let next = try ApproverStatement(after: story.chain.head, approvers: try set([.alice, .bob, .dave]))
        var chain = story.chain
        expectError(.notApproved) { try chain.append([Approver.alice, .bob].sign(next)) }
        try chain.append([Approver.alice, .bob, .dave].sign(next))
    }

    @Test("Two of three recovery keys replace approvers who are lost; one does not, and later statements name none")
    func recovery() throws {
        let story = try Story()
        let next = try ApproverStatement(after: story.chain.head, approvers: try set([.dave, .mallory]))
        var chain = story.chain
        let newcomers: [Approver] = [.dave, .mallory]
        expectError(.notApproved) { try chain.append((newcomers + [Approver.vaults[0]]).sign(next)) }
        // An approver and a recovery key are not two of either.
        expectError(.notApproved) { try chain.append((newcomers + [Approver.vaults[0], .alice]).sign(next)) }
        try chain.append((newcomers + Approver.vaults[..<2]).sign(next))
        #expect(chain.head.approvers.number == 2)

        let added = String(decoding: next.bytes, as: UTF8.self)
            .replacing(
                "\n0\n0\n", with: "\n1\n1\nvault-1 \(Base64.encode(try Approver.vaults[0].key.subjectPublicKeyInfo))\n")
        expectError(.malformed) { try ApproverStatement(Array(added.utf8)) }
        expectError(.invalidValue) {
            try ApproverStatement(
                genesisOf: Story.server, approvers: try set([.alice, .bob]), recovery: try set([.alice, .dave]))
        }
    }

    @Test("One key is one person: neither twice in a set, nor in another encoding")
    func encodings() throws {
        expectError(.invalidValue) { try set([.alice, Approver("alice-2", 1)]) }
        expectError(.invalidValue) { try set([.alice, Approver("alice", 9)]) }
        let der = try Approver.bob.key.subjectPublicKeyInfo
        let point = try P256.Signing.PublicKey(derRepresentation: der)
        // The same key with its point compressed.
        let compressed = Array(der.prefix(23)) + [0x03, 0x22, 0x00] + point.compressedRepresentation
        expectError(.invalidValue) {
            try ApproverKey(der: [0x30, UInt8(compressed.count - 2)] + compressed.dropFirst(2))
        }
        expectError(.invalidValue) { try ApproverKey(der: der + [0]) }
        let ed448 = [0x30, 0x0A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71, 0x03, 0x01, 0x00] as [UInt8]
        let error = #expect(throws: ServerError.self) { try ApproverKey(der: ed448) }
        #expect(error.map { "\($0)".contains("a key of Ed448") } == true)
        #expect(try ApproverKey(printed: point.x963Representation.base64EncodedString()).identity == Digest(of: der))
    }

    @Test("A key of Ed25519 under which anybody can sign is refused")
    func smallOrder() throws {
        let prefix = try Approver.alice.key.subjectPublicKeyInfo.prefix(12)
        let zero = [UInt8](repeating: 0, count: 32)
        let greatest = [UInt8](repeating: 0xFF, count: 31)
        let unusable: [[UInt8]] = [
            zero, [1] + zero.dropFirst(), zero.dropLast() + [0x80], [0xEC] + greatest.dropFirst() + [0x7F],
            [0xED] + greatest.dropFirst() + [0x7F], [0xEE] + greatest.dropFirst() + [0xFF], greatest + [0xFF],
        ]
        for bytes in unusable { expectError(.invalidValue) { try ApproverKey(der: prefix + bytes) } }
    }

    @Test("A damaged statement is refused, or is another statement in its one spelling")
    func campaign() throws {
        let bytes = try Story().chain.head.bytes
        var generator = SeededGenerator(seed: 28)
        defer { noteCampaign(of: mutants(inPartsOf: 4)) }
        for _ in 0..<mutants(inPartsOf: 4) {
            let damaged = mutated(bytes, &generator)
            guard let read = try? ApproverStatement(damaged) else { continue }
            #expect(read.bytes == damaged)
        }
    }
}
