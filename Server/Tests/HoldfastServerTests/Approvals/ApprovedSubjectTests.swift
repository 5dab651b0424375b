import Testing

@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Counting approvals")
struct ApprovedSubjectTests {
    private func approved(
        _ subject: ApprovalText.Subject, _ approvals: [SignedApproval], _ chain: ApproverChain,
        proposer: Digest? = nil, at now: Int64 = Story.now
    ) throws -> ApprovedSubject {
        try ApprovedSubject(subject, approvals: approvals, chain: chain, proposer: proposer, at: now)
    }

    @Test("Two of three approve a change; one does not, and one twice does not")
    func number() throws {
        let story = try Story()
        let (alice, bob) = try (
            Approver.alice.says(.approve, story.subject), Approver.bob.says(.approve, story.subject)
        )
        #expect(try approved(story.subject, [alice, bob], story.chain).approvers.count == 2)
        expectError(.notApproved) { try approved(story.subject, [], story.chain) }
        expectError(.notApproved) { try approved(story.subject, [alice], story.chain) }
        let later = try Approver.alice.says(.approve, story.subject, until: Story.end + 1)
        expectError(.notApproved) { try approved(story.subject, [alice, alice, later], story.chain) }
    }

    @Test("The proposer's own approval does not count, except where one is enough")
    func proposer() throws {
        let story = try Story()
        let approvals = try [Approver.alice, .bob].map { try $0.says(.approve, story.subject) }
        expectError(.notApproved) {
            try approved(story.subject, approvals, story.chain, proposer: try Approver.bob.identity)
        }
        #expect(throws: Never.self) {
            try approved(
                story.subject, approvals + [try Approver.carol.says(.approve, story.subject)], story.chain,
                proposer: try Approver.bob.identity)
        }
        let alone = try Story(number: 1, approvers: [.alice, .bob])
        #expect(throws: Never.self) {
            try approved(
                alone.subject, [try Approver.alice.says(.approve, alone.subject)], alone.chain,
                proposer: try Approver.alice.identity)
        }
    }

    @Test("An approval of anything else does not count: server, app, change, base, content, outlook, force, approvers")
    func replay() throws {
        let story = try Story()
        let bob = try Approver.bob.says(.approve, story.subject)
        let other = try Story(approvers: [.alice, .bob, .dave])
        let others = try [
            Story.subject(story.chain, server: Story.id(0xA1)), Story.subject(story.chain, app: "bank2"),
            Story.subject(story.chain, change: 0xC1), Story.subject(story.chain, base: 40),
            Story.subject(story.chain, content: "other"), Story.subject(story.chain, outlook: "better"),
            Story.subject(story.chain, forced: [.canary]), Story.subject(other.chain),
        ]
        for another in others {
            #expect(another != story.subject)
            let alice = try Approver.alice.says(.approve, another)
            expectError(.notForThis) { try approved(story.subject, [alice, bob], story.chain) }
            // A change that was approved without force is not published with it, and the reverse.
            let both = try [Approver.alice, .bob].map { try $0.says(.approve, story.subject) }
            expectError(.notForThis) { try approved(another, both, story.chain) }
        }
    }

    @Test("A rejection is final, whatever it names besides the change and whenever it ends")
    func rejection() throws {
        let story = try Story()
        let approvals = try [Approver.alice, .bob, .carol].map { try $0.says(.approve, story.subject) }
        let rejections = try [
            Approver.carol.says(.reject, story.subject),
            Approver.carol.says(.reject, story.subject, until: 1),
            Approver.carol.says(.reject, Story.subject(story.chain, content: "older")),
            Approver.carol.says(.reject, Story.subject(story.chain, base: 3, forced: [.lint])),
        ]
        for rejection in rejections {
            expectError(.rejected) { try approved(story.subject, approvals + [rejection], story.chain) }
            expectError(.rejected) { try approved(story.subject, [rejection] + approvals, story.chain) }
        }
        // A rejection of another change, or by a person who is no approver, rejects nothing, and is not ignored either.
        let elsewhere = try Approver.carol.says(.reject, Story.subject(story.chain, change: 0xC1))
        expectError(.notForThis) { try approved(story.subject, approvals + [elsewhere], story.chain) }
        let stranger = try Approver.mallory.says(.reject, story.subject)
        expectError(.invalidSignature) { try approved(story.subject, approvals + [stranger], story.chain) }
    }

    @Test("A rejection cannot be turned into an approval, nor signed for somebody else")
    func forgery() throws {
        let story = try Story()
        let bob = try Approver.bob.says(.approve, story.subject)
        let rejection = try Approver.alice.says(.reject, story.subject)
        let turned = SignedApproval(
            text: try ApprovalText(.approve, story.subject, end: Story.end).bytes, signature: rejection.signature)
        expectError(.invalidSignature) { try approved(story.subject, [turned, bob], story.chain) }
        let mallory = try Approver.mallory.says(.approve, story.subject)
        expectError(.invalidSignature) { try approved(story.subject, [mallory, bob], story.chain) }
        let named = SignedApproval(
            text: mallory.text,
            signature: ApproverSignature(
                identity: try Approver.alice.identity, signature: mallory.signature.signature))
        expectError(.invalidSignature) { try approved(story.subject, [named, bob], story.chain) }
    }

    @Test("An approval counts until its end, and not a second longer")
    func end() throws {
        let story = try Story()
        let approvals = try [Approver.alice, .bob].map { try $0.says(.approve, story.subject) }
        #expect(throws: Never.self) { try approved(story.subject, approvals, story.chain, at: Story.end) }
        expectError(.notApproved) { try approved(story.subject, approvals, story.chain, at: Story.end + 1) }
    }

    @Test("Approvals under earlier approvers do not count under later ones, even if the people are the same again")
    func earlier() throws {
        let story = try Story()
        let approvals = try [Approver.alice, .bob].map { try $0.says(.approve, story.subject) }
        var chain = story.chain
        for people: [Approver] in [[.alice, .bob], [.alice, .bob, .carol]] {
            let next = try ApproverStatement(
                after: chain.head, approvers: try ApproverSet(try people.map { try $0.member }, number: 2))
            try chain.append(people.sign(next))
        }
        #expect(chain.head.approvers == story.chain.head.approvers)
        expectError(.notForThis) { try approved(story.subject, approvals, chain) }
        expectError(.notForThis) { try approved(try Story.subject(chain), approvals, chain) }
    }
}
