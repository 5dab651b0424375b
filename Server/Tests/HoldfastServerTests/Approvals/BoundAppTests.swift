import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Statements that say which apps each approves")
struct BoundAppTests {
    private static func member(
        _ passkey: SoftPasskey, _ name: String, for apps: Set<AppName>? = nil
    ) throws -> ApproverSet.Member {
        try ApproverSet.Member(name: name, key: passkey.key, isPasskey: true, apps: apps)
    }

    /// Alice and a phone approve everything; carol, and a stick, certain apps alone.
    private static func people(_ rule: PasskeyTerms.Rule = .keyRequired) throws -> ApproverSet {
        try ApproverSet(
            [
                Approver.alice.member, Approver.carol.limited(to: "shop"), member(PasskeyStory.phone, "phone"),
                member(PasskeyStory.stick, "stick", for: [AppName("bank"), AppName("passkey")]),
            ], number: 2, passkeys: PasskeyTerms(rule, at: SoftPasskey.party))
    }

    /// The chain of a story, and such a statement after it.
    private static func chain(_ approvers: ApproverSet) throws -> ApproverChain {
        var chain = try Story().chain
        let next = try ApproverStatement(after: chain.head, approvers: approvers)
        try chain.append(
            PasskeyStory.signed(
                next, by: [.alice, .bob], approvers.passkeys == nil ? [] : [.ed25519, PasskeyStory.stick]))
        return chain
    }

    private func approved(
        _ app: String, _ chain: ApproverChain, _ approvals: (ApprovalText.Subject) throws -> [SignedApproval]
    ) throws -> Set<Digest> {
        let subject = try Story.subject(chain, app: app)
        return try ApprovedSubject(
            subject, approvals: approvals(subject), chain: chain, proposer: nil, at: Story.now
        ).approvers
    }

    @Test("The apps stand behind each key, sorted, or a star for all, before the mark of a passkey")
    func lines() throws {
        let statement = try Self.chain(Self.people()).head
        let lines = statement.bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        #expect(lines[0] == "holdfast-approvers-v3" && lines.count == 14)
        for (name, end) in [
            ("alice", " *"), ("carol", " shop"), ("phone", " * passkey"), ("stick", " bank,passkey passkey"),
        ] {
            let line = lines.first { $0.hasPrefix("\(name) ") }
            #expect(
                line?.hasSuffix(end) == true && line?.split(separator: " ").count == end.split(separator: " ").count + 2
            )
        }
        #expect(lines[10...] == ["https://pins.example.com", "key-required", "0", "0"])
        #expect(try ApproverStatement(statement.bytes) == statement)
        // An app may be called as the mark is.
        let named = try ApproverStatement(
            after: Story().chain.head,
            approvers: ApproverSet([Approver.alice.member, Approver.carol.limited(to: "passkey")], number: 1))
        #expect(String(decoding: named.bytes, as: UTF8.self).contains("= passkey\n0\n0\n"))
        let read = try ApproverStatement(named.bytes).approvers
        #expect(read == named.approvers && read.passkeys == nil)
        // Without limits, and without a statement before it that says apps, it is an earlier version.
        let plain = try ApproverStatement(
            after: Story().chain.head, approvers: ApproverSet([Approver.alice.member], number: 1))
        #expect(plain.bytes.starts(with: "holdfast-approvers-v1\n".utf8))
        let later = try ApproverStatement(after: statement, approvers: ApproverSet([Approver.bob.member], number: 1))
        #expect(later.bytes.starts(with: "holdfast-approvers-v3\n".utf8))
        #expect(String(decoding: later.bytes, as: UTF8.self).contains(" *\n0\n0\n"))
    }

    @Test("A statement with apps and passkeys that is spelled in any other way is refused")
    func spellings() throws {
        let text = String(decoding: try Self.chain(Self.people()).head.bytes, as: UTF8.self)
        let replacements = [
            (" * passkey\n", " passkey\n"), (" * passkey\n", " passkey *\n"), (" * passkey\n", " *  passkey\n"),
            (" * passkey\n", " * passkey passkey\n"), (" * passkey\n", " * Passkey\n"),
            (" bank,passkey passkey\n", " passkey,bank passkey\n"), (" bank,passkey passkey\n", "  passkey\n"),
            (" shop\n", "\n"), (" shop\n", " shop \n"), (" shop\n", " shop,shop\n"), (" shop\n", " -shop\n"),
            (" shop\n", " **\n"), (" shop\n", " shop,*\n"), ("-v3\n", "-v2\n"), ("-v3\n", "-v1\n"), ("-v3\n", "-v3 \n"),
            ("key-required\n", ""), ("key-required\n", "*\n"), ("0\n0\n", "0\n0\n*\n"),
        ]
        for (part, other) in replacements {
            let damaged = text.replacing(part, with: other, maxReplacements: 1)
            #expect(damaged != text)
            #expect(throws: ServerError.self, "\(damaged)") { try ApproverStatement(Array(damaged.utf8)) }
        }
        do {
            _ = try ApproverStatement(Array(text.replacing(" shop\n", with: " shop,bank\n").utf8))
            Issue.record("apps that are not sorted")
        } catch {
            #expect(error.code == .malformed && "\(error)".contains("* or sorted names of apps"), "\(error)")
        }
        // Terms without passkeys.
        let bare = text.replacing(" passkey\n", with: "\n")
        #expect(throws: ServerError.self) { try ApproverStatement(Array(bare.utf8)) }
    }

    @Test("Those who approve all apps are enough, with a key that is no passkey if one is needed, or nobody is named")
    func enough() throws {
        let (alice, bob, carol) = try (Approver.alice.member, Approver.bob.member, Approver.carol.limited(to: "shop"))
        #expect(try ApproverSet([alice, bob, carol], number: 2).bindsApps)
        expectError(.invalidValue) { try ApproverSet([alice, carol], number: 2) }
        expectError(.invalidValue) { try ApproverSet([alice, bob, carol], number: 3) }
        let passkeys = try [Self.member(PasskeyStory.phone, "phone"), Self.member(PasskeyStory.stick, "stick")]
        for rule in PasskeyTerms.Rule.allCases {
            let terms = PasskeyTerms(rule, at: try SoftPasskey.party)
            if rule == .keyRequired {
                expectError(.invalidValue) { try ApproverSet(passkeys + [carol], number: 2, passkeys: terms) }
            } else {
                #expect(try ApproverSet(passkeys + [carol], number: 2, passkeys: terms).number == 2)
            }
        }
        expectError(.invalidValue) { try Approver.carol.limited(to: "") }
        let many = (0..<5).map { "\($0)" + String(repeating: "a", count: 254) }
        #expect(try Approver.carol.limited(to: many[..<4].joined(separator: ",")).apps?.count == 4)
        expectError(.invalidValue) { try Approver.carol.limited(to: many.joined(separator: ",")) }
        expectError(.invalidValue) {
            try ApproverStatement(
                genesisOf: Story.server, approvers: ApproverSet([alice, bob], number: 2),
                recovery: ApproverSet([Approver.vaults[0].member, Approver.vaults[1].limited(to: "shop")], number: 1))
        }
    }

    @Test("An approval counts for the apps that the statement says, and a rejection stops a change of no other")
    func counting() throws {
        let chain = try Self.chain(
            ApproverSet(
                [Approver.alice.member, Approver.bob.member, Approver.carol.limited(to: "shop,games")], number: 2))
        for app in ["shop", "games"] {
            #expect(
                try approved(app, chain) { subject in
                    try [Approver.alice, .carol].map { try $0.says(.approve, subject) }
                }.count == 2)
            expectError(.rejected) {
                try approved(app, chain) { subject in
                    try [
                        Approver.alice.says(.approve, subject), Approver.bob.says(.approve, subject),
                        Approver.carol.says(.reject, subject),
                    ]
                }
            }
        }
        // Names that begin alike are others.
        for app in ["bank", "sho", "shop2"] {
            expectError(.notApproved) {
                try approved(app, chain) { subject in
                    try [Approver.alice, .carol].map { try $0.says(.approve, subject) }
                }
            }
            let both = try approved(app, chain) { subject in
                try [Approver.alice, .bob, .carol].map { try $0.says($0 == .carol ? .reject : .approve, subject) }
            }
            #expect(try both == [Approver.alice.identity, Approver.bob.identity])
        }
    }

    @Test("A key file for other apps is not the one that passkeys need, and passkeys approve what the statement says")
    func passkeys() throws {
        let chain = try Self.chain(Self.people())
        let (phone, stick) = (PasskeyStory.phone, PasskeyStory.stick)
        #expect(
            try approved("shop", chain) { try [Approver.carol.says(.approve, $0), phone.says(.approve, $0)] }.count == 2
        )
        for app in ["bank", "passkey"] {
            expectError(.notApproved) {
                try approved(app, chain) {
                    try [Approver.carol.says(.approve, $0), phone.says(.approve, $0), stick.says(.approve, $0)]
                }
            }
            #expect(
                try approved(app, chain) { try [Approver.alice.says(.approve, $0), stick.says(.approve, $0)] }.count
                    == 2)
        }
        expectError(.notApproved) {
            try approved("shop", chain) { try [Approver.alice.says(.approve, $0), stick.says(.approve, $0)] }
        }
    }

    @Test("Earlier versions before it count as they did; it follows them, and none of them follows it")
    func versions() throws {
        let story = try PasskeyStory()
        var chain = story.chain
        let next = try ApproverStatement(after: chain.head, approvers: Self.people())
        // An approver who loses apps agrees while they still have them.
        let (phone, stick) = (PasskeyStory.phone, PasskeyStory.stick)
        try chain.append(PasskeyStory.signed(next, by: [.alice, .carol], [phone, stick]))
        #expect(chain.head == next && chain.statements.map(\.approvers.bindsApps) == [false, false, true])
        #expect(chain.when(story.chain.head.digest)?.head.approvers.members.allSatisfy { $0.apps == nil } == true)
        // An approver of certain apps cannot agree to a wider list.
        let wider = try ApproverStatement(
            after: next,
            approvers: ApproverSet([Approver.alice, .carol].map { who in try who.member }, number: 2))
        expectError(.notApproved) { try chain.append(PasskeyStory.signed(wider, by: [.alice, .carol], [stick])) }
        let plain = String(decoding: wider.bytes, as: UTF8.self)
            .replacing(" *\n", with: "\n").replacing("-v3\n", with: "-v1\n")
        #expect(try ApproverStatement(Array(plain.utf8)).approvers.members.count == 2)
        let signers: [Approver] = [.alice, .carol] + Approver.vaults
        let signatures = try signers.map { try $0.signature(of: Array(plain.utf8)) }
        let evidence = try ApproverSignature(phone.evidence(over: Array(plain.utf8)))
        expectError(.invalidValue) {
            try chain.append(SignedApprovers(text: Array(plain.utf8), signatures: signatures + [evidence]))
        }
        #expect(chain.statements.count == 3)
        try chain.append(PasskeyStory.signed(wider, by: [.alice], [phone]))
        #expect(chain.head.approvers.members.allSatisfy { $0.apps == nil } && chain.head.approvers.bindsApps)
    }

    @Test("A damaged statement with apps is refused, or is another statement in its one spelling")
    func campaign() throws {
        let bytes = try Self.chain(Self.people()).head.bytes
        var generator = SeededGenerator(seed: 31)
        defer { noteCampaign(of: mutants(inPartsOf: 4)) }
        for _ in 0..<mutants(inPartsOf: 4) {
            let damaged = mutated(bytes, &generator)
            guard let read = try? ApproverStatement(damaged) else { continue }
            #expect(read.bytes == damaged)
        }
    }
}
