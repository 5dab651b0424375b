import Crypto
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Approvers with passkeys")
struct PasskeyApproverTests {
    private func approved(_ story: PasskeyStory, _ approvals: [SignedApproval]) throws -> ApprovedSubject {
        try ApprovedSubject(story.subject, approvals: approvals, chain: story.chain, proposer: nil, at: Story.now)
    }

    @Test("A statement with passkeys says which they are, where they sign and whether they are enough")
    func lines() throws {
        for rule in PasskeyTerms.Rule.allCases {
            let statement = try PasskeyStory(rule).chain.head
            let lines = statement.bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
            #expect(lines.count == 14)
            #expect(lines[0] == "holdfast-approvers-v2")
            #expect(lines[6..<10].count { $0.hasSuffix(" passkey") } == 2)
            #expect(lines[10...] == ["https://pins.example.com", rule.rawValue, "0", "0"])
            #expect(try ApproverStatement(statement.bytes) == statement)
            #expect(statement.approvers.passkeys?.rule == rule)
        }
    }

    @Test("A statement with passkeys that is spelled in any other way is refused")
    func spellings() throws {
        let text = String(decoding: try PasskeyStory().chain.head.bytes, as: UTF8.self)
        let replacements = [
            ("-v2\n", "-v1\n"), ("-v2\n", "-v3\n"), (" passkey\n", " Passkey\n"), (" passkey\n", "  passkey\n"),
            (" passkey\n", " passkey passkey\n"), ("https://", "http://"), (".com\n", ".com:443\n"),
            (".com\n", ".com/\n"), ("key-required\n", "none\n"), ("key-required\n", ""), ("key-required", "-"),
        ]
        for (part, other) in replacements {
            let damaged = text.replacing(part, with: other, maxReplacements: 1)
            #expect(damaged != text)
            #expect(throws: ServerError.self, "\(damaged)") { try ApproverStatement(Array(damaged.utf8)) }
        }
        // Without passkeys it is the other format, of which there is one spelling too.
        let bare = text.replacing(" passkey\n", with: "\n")
        expectError(.invalidValue) { try ApproverStatement(Array(bare.utf8)) }
    }

    @Test("Terms need passkeys and passkeys need terms; a key of P-384, and a recovery key, is none")
    func members() throws {
        let terms = PasskeyTerms(at: try SoftPasskey.party)
        let (files, all) = (try PasskeyStory.members([]), try PasskeyStory.members())
        expectError(.invalidValue) { try ApproverSet(files, number: 1, passkeys: terms) }
        expectError(.invalidValue) { try ApproverSet(all, number: 1) }
        let p384 = try ApproverKey(der: Array(P384.Signing.PrivateKey().publicKey.derRepresentation))
        expectError(.invalidValue) { try ApproverSet.Member(name: "stick", key: p384, isPasskey: true) }
        let passkeys = all.filter(\.isPasskey)
        expectError(.invalidValue) { try ApproverSet(passkeys, number: 1, passkeys: terms) }
        let only = try ApproverSet(
            passkeys, number: 1, passkeys: PasskeyTerms(.passkeysOnly, at: SoftPasskey.party))
        #expect(only.members.count == 2)
        expectError(.invalidValue) {
            try ApproverStatement(
                genesisOf: Story.server, approvers: ApproverSet(files, number: 1), recovery: only)
        }
    }

    @Test("A key file and a passkey approve a change; two passkeys do only where approvers have signed that they may")
    func counting() throws {
        for rule in PasskeyTerms.Rule.allCases {
            let story = try PasskeyStory(rule)
            let (phone, stick) = try (
                PasskeyStory.phone.says(.approve, story.subject), PasskeyStory.stick.says(.approve, story.subject)
            )
            let alice = try Approver.alice.says(.approve, story.subject)
            #expect(try approved(story, [alice, phone]).approvers.count == 2)
            #expect(try approved(story, [stick, alice, phone]).approvers.count == 3)
            expectError(.notApproved) { try approved(story, [phone, phone]) }
            if rule == .passkeysOnly {
                #expect(try approved(story, [phone, stick]).approvers.count == 2)
            } else {
                expectError(.notApproved) { try approved(story, [phone, stick]) }
            }
        }
        // Where one is enough, it is one with a key file.
        let alone = try PasskeyStory(number: 1)
        expectError(.notApproved) { try approved(alone, [PasskeyStory.phone.says(.approve, alone.subject)]) }
        #expect(throws: Never.self) { try approved(alone, [Approver.bob.says(.approve, alone.subject)]) }
    }

    @Test("A rejection by a passkey is final")
    func rejection() throws {
        let story = try PasskeyStory()
        let approvals = try [Approver.alice, .bob].map { try $0.says(.approve, story.subject) }
        expectError(.rejected) {
            try approved(story, approvals + [PasskeyStory.phone.says(.reject, story.subject)])
        }
    }

    @Test("A sign-in over an approval's digest approves nothing, and neither does anything else that a passkey signed")
    func confusion() throws {
        let story = try PasskeyStory()
        let text = try ApprovalText(.approve, story.subject, end: Story.end).bytes
        let alice = try Approver.alice.says(.approve, story.subject)
        let phone = PasskeyStory.phone
        func with(_ identity: ServerFoundation.Digest, _ signature: [UInt8]) throws -> ApprovedSubject {
            let signature = ApproverSignature(identity: identity, signature: signature)
            return try approved(story, [alice, SignedApproval(text: text, signature: signature)])
        }
        let identity = try phone.key.identity
        #expect(throws: Never.self) { try with(identity, phone.evidence(over: text).bytes) }
        var digest = ChosenBytes(ServerFoundation.Digest(of: text).bytes)
        let signIn = PasskeyEvidence(try phone.assertion(for: .signIn(using: &digest)), by: try phone.key)
        expectError(.notForThis) { try with(identity, signIn.bytes) }
        // The bare signature, one over the text itself, and evidence for another text or by another passkey.
        let bare = try phone.assertion(for: .approval(of: text)).signature
        expectError(.malformed) { try with(identity, bare) }
        expectError(.malformed) { try with(identity, phone.signature(of: text)) }
        expectError(.notForThis) { try with(identity, phone.evidence(over: alice.text + [0x0A]).bytes) }
        expectError(.invalidSignature) { try with(identity, PasskeyStory.stick.evidence(over: text).bytes) }
        var elsewhere = phone
        elsewhere.origin = "https://evil.example"
        expectError(.notForThis) { try with(identity, elsewhere.evidence(over: text).bytes) }
        // A key in a file signs texts, and nothing that a passkey would.
        let data = try phone.data()
        let client = phone.clientDataJSON(.get, .approval(of: text))
        let file = PasskeyEvidence(
            try PasskeyAssertion(
                authenticatorData: data, clientDataJSON: client,
                signature: Approver.bob.signature(of: data + ServerFoundation.Digest(of: client).bytes).signature),
            by: try Approver.bob.key)
        #expect(throws: Never.self) { try file.verified(over: text, at: SoftPasskey.party) }
        expectError(.invalidSignature) { try with(try Approver.bob.identity, file.bytes) }
    }

    @Test("A passkey approves only after it has signed the statement that names it")
    func newcomers() throws {
        let story = try Story()
        let next = try PasskeyStory.statement(after: story.chain.head)
        for passkeys in [[], [PasskeyStory.phone]] {
            var chain = story.chain
            expectError(.notApproved) { try chain.append(PasskeyStory.signed(next, passkeys)) }
        }
        var signIn = try PasskeyStory.signed(next)
        var digest = ChosenBytes(ServerFoundation.Digest(of: next.bytes).bytes)
        let answer = PasskeyEvidence(
            try PasskeyStory.stick.assertion(for: .signIn(using: &digest)), by: try PasskeyStory.stick.key)
        signIn = SignedApprovers(
            text: signIn.text, signatures: signIn.signatures.dropLast() + [ApproverSignature(answer)])
        var chain = story.chain
        expectError(.notForThis) { try chain.append(signIn) }
    }

    @Test("Passkeys alone replace no approvers, and lift no rule, except where they are enough")
    func replacing() throws {
        let passkeys = [PasskeyStory.phone, PasskeyStory.stick]
        var strict = try PasskeyStory().chain
        let lifted = try PasskeyStory.statement(after: strict.head, .passkeysOnly)
        expectError(.notApproved) { try strict.append(PasskeyStory.signed(lifted, by: [], passkeys)) }
        #expect(throws: Never.self) { try strict.append(PasskeyStory.signed(lifted, by: [.alice], passkeys)) }
        let back = try PasskeyStory.statement(after: strict.head)
        #expect(throws: Never.self) { try strict.append(PasskeyStory.signed(back, by: [], passkeys)) }
        #expect(strict.statements.count == 4)
    }

    @Test("When the page moves, a passkey proves that it signs there, and does not approve the move")
    func moving() throws {
        let party = try RelyingParty(origin: "https://pins.example.com:8443")
        var (phone, stick) = (PasskeyStory.phone, PasskeyStory.stick)
        var chain = try PasskeyStory().chain
        let moved = try PasskeyStory.statement(after: chain.head, at: party)
        expectError(.notApproved) { try chain.append(PasskeyStory.signed(moved, [])) }
        expectError(.notForThis) { try chain.append(PasskeyStory.signed(moved, [phone, stick])) }
        (phone.origin, stick.origin) = (party.origin, party.origin)
        expectError(.notApproved) { try chain.append(PasskeyStory.signed(moved, by: [.alice], [phone, stick])) }
        #expect(throws: Never.self) { try chain.append(PasskeyStory.signed(moved, [phone, stick])) }
    }

    @Test("Nothing that was damaged counts as an approval by a passkey")
    func mutations() throws {
        let story = try PasskeyStory()
        let alice = try Approver.alice.says(.approve, story.subject)
        var generator = SeededGenerator(seed: 36)
        for passkey in [PasskeyStory.phone, PasskeyStory.stick] {
            let good = try passkey.says(.approve, story.subject)
            defer { noteCampaign(of: mutants(inPartsOf: 10)) }
            for _ in 0..<mutants(inPartsOf: 10) {
                let damaged = mutated(good.signature.signature, &generator)
                guard damaged != good.signature.signature else { continue }
                let signature = ApproverSignature(identity: good.signature.identity, signature: damaged)
                #expect(throws: ServerError.self, "\(damaged)") {
                    try approved(story, [alice, SignedApproval(text: good.text, signature: signature)])
                }
            }
        }
    }
}
