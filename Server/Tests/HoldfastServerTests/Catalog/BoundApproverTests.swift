import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// A statement says which apps each approves; what the database and the audit say about it decides nothing.
@Suite("Approvers of certain apps", .timeLimit(.minutes(5)))
struct BoundApproverTests {
    /// Names with commas between, or a star for all.
    private func apps(_ names: String) throws -> Set<AppName>? {
        names == "*" ? nil : Set(try names.split(separator: ",").map { try AppName(String($0)) })
    }

    /// Lets alice and bob approve everything, and carol one app, beside passkeys.
    @discardableResult
    private func bind(
        _ world: World, _ carols: String? = "shop", _ passkeys: [(SoftPasskey, String)] = [],
        sign: [SoftPasskey]? = nil, by approvers: [Approver] = [.alice, .bob]
    ) async throws -> ApproverStatement {
        let members =
            try [Approver.alice.member, Approver.bob.member]
            + (carols.map { [try Approver.carol.limited(to: $0)] } ?? [])
        let holders = try passkeys.map { passkey, names in
            try ApproverSet.Member(
                name: "passkey-\(passkey.number)", key: passkey.key, isPasskey: true, apps: apps(names))
        }
        let next = try ApproverStatement(
            after: try await world.catalog.approvers().head,
            approvers: ApproverSet(
                members + holders, number: 2, passkeys: holders.isEmpty ? nil : PasskeyTerms(at: SoftPasskey.party),
                bindsApps: true))
        try await world.catalog.append(PasskeyStory.signed(next, by: approvers, sign ?? passkeys.map(\.0)))
        return next
    }

    private func invite(
        _ world: World, _ names: String, seed: UInt64, _ purpose: PasskeyPurpose = .approval,
        by approvers: [Approver] = [.alice, .bob]
    ) async throws -> AccessToken {
        let token = PasskeyDesk.token(seed)
        let text = try InvitationText(
            server: Story.server, token: token.digest, person: "mallory", purpose: purpose, apps: apps(names),
            approvers: try await world.catalog.approvers().head.digest, end: world.now + 86_400)
        try await world.catalog.invite(PasskeyDesk.signed(text, by: approvers))
        return token
    }

    private func word(
        of approver: Approver, on change: RandomID, _ world: World, _ verdict: ApprovalText.Verdict = .approve
    ) async throws -> SignedApproval {
        let subject = try await world.catalog.change(change).subject(for: try await world.catalog.approvers())
        return try approver.says(verdict, subject, until: world.now + 86_400)
    }

    private func word(of passkey: SoftPasskey, on change: RandomID, _ world: World) async throws -> SignedApproval {
        let subject = try await world.catalog.change(change).subject(for: try await world.catalog.approvers())
        return try passkey.says(.approve, subject, until: world.now + 86_400)
    }

    @Test("Whatever is written into the database, nobody who approves other apps gets a change through, or stops one")
    func attack() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop")
            try await bind(world)
            let desk = PasskeyDesk(world: world)
            let bank = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(bank, by: [.alice])
            for verdict in ApprovalText.Verdict.allCases {
                let word = try await word(of: .carol, on: bank, world, verdict)
                await expectError(.notForThis) { try await world.catalog.add(word) }
                try await desk.write(
                    """
                    INSERT INTO approval (change_id, identity, text, signature, created_at) \
                    VALUES ($1, $2, $3, $4, 0)
                    """,
                    [
                        .bytes(bank.bytes), .bytes(word.signature.identity.bytes), .bytes(word.text),
                        .bytes(word.signature.signature),
                    ])
                await expectError(.notApproved) { try await world.publisher.publish(bank) }
                let page = try await PageDesk(world).html("/apps/bank/changes/\(bank)")
                #expect(page.contains("\(verdict.rawValue), and approves other apps only"))
            }
            let chain = try await world.catalog.approvers()
            let text = chain.head.bytes
            let wide = String(decoding: text, as: UTF8.self).replacing(" shop\n", with: " *\n")
            #expect(wide.utf8.count < text.count)
            for forged in [wide, wide.replacing(" *\n", with: "\n").replacing("-v3\n", with: "-v1\n")] {
                #expect(try ApproverStatement(Array(forged.utf8)).approvers.members.allSatisfy { $0.apps == nil })
                try await desk.write(
                    "UPDATE approver SET statement = $1 WHERE place = 1", [.bytes(Array(forged.utf8))])
                await #expect(throws: ServerError.self) { try await world.publisher.publish(bank) }
                try await desk.write("UPDATE approver SET statement = $1 WHERE place = 1", [.bytes(text)])
            }
            // Her approval of her own app is valid, and another approval was missing.
            try await world.approve(shop.change, by: [.alice, .carol])
            #expect(try await world.publisher.publish(shop.change) == .published(generation: 1))
            try await world.everybodyFollows(of: shop.app, isThorough: false)
            await expectError(.notApproved) { try await world.publisher.publish(bank) }
            try await world.approve(bank, by: [.bob])
            #expect(try await world.publisher.publish(bank) == .published(generation: 1))
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("doctor and pages say who approves what, nobody waits for those who may not, and they invite for their apps")
    func telling() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop")
            try await bind(world)
            let findings = try await world.publisher.examine().filter { !$0.isFault }.map(\.words)
            #expect(findings.contains("carol may approve only changes of shop"), "\(findings)")
            let words = "2 of 2 approvers of all apps must agree: without one of them nothing is approved"
            #expect(findings.contains(words), "\(findings)")
            let chain = try await world.catalog.approvers()
            let change = try await world.propose(
                world.draft { $0.formats = World.fewFormats }, forcing: [.canary]
            ).change
            #expect(
                try await world.catalog.change(change).silentApprovers(of: chain).map(\.name).sorted() == [
                    "alice", "bob",
                ])
            #expect(try await world.catalog.change(shop.change).silentApprovers(of: chain).count == 3)
            var finder = NoticeFinder(Story.server)
            try await finder.readApprovers(in: world.catalog)
            let told = finder.notices(world.catalog.ledger, world.publisher.live.current, at: world.now)
                .filter { $0.kind == .emergency }.map { String(decoding: $0.bytes, as: UTF8.self) }
            let carol = "\(try Approver.carol.identity)"
            #expect(told.count == 2 && !told.contains { $0.contains(carol) }, "\(told)")
            let desk = try PageDesk(world)
            for (address, person) in [
                ("/apps/bank", false), ("/apps/bank/changes/\(change)", false), ("/apps/shop", true),
            ] {
                let html = try await desk.html(address)
                #expect(html.contains(carol) == person, "\(address)")
                #expect(html.contains("2 of \(person ? 3 : 2) approvers must approve"), "\(address)")
            }
            #expect(try await desk.html("/people").contains("key file or signer, for shop alone"))
            // A person who was invited for an app learns of no other.
            let guest = try PageDesk(world, viewer: Viewer(name: "dave", csrfToken: "token", apps: [world.app]))
            let people = try await guest.html("/people")
            #expect(people.contains(carol) && !people.contains("shop"))
            for (index, names) in ["*", "bank", "bank,shop"].enumerated() {
                await expectError(.notApproved) {
                    _ = try await invite(world, names, seed: 301 + 2 * UInt64(index), by: [.alice, .carol])
                }
            }
            _ = try await invite(world, "shop", seed: 311, by: [.alice, .carol])
        }
    }

    @Test(
        "What somebody registered for fewer apps ends when a statement names the key, which is registered for its apps")
    func drafts() async throws {
        for (stolen, named) in [("bank", "shop"), ("bank,shop", "*")] {
            try await World.run { world in
                _ = try await world.addApp("shop")
                let (people, phone) = (PasskeyDesk(world: world), PasskeyStory.phone)
                try await people.answer(phone, try await invite(world, stolen, seed: 91))
                // The signature of another key ends nothing.
                await expectError(.notApproved) { try await bind(world, nil, [(phone, named)], sign: []) }
                #expect(try await world.catalog.passkeys().count == 1)
                try await bind(world, nil, [(phone, named)])
                #expect(try await world.catalog.passkeys().isEmpty)
                let others: [(String, PasskeyPurpose)] = [
                    (named == "*" ? "shop" : "*", .approval), ("bank", .approval), ("bank,shop", .approval),
                    (named, .signIn),
                ]
                for (index, (names, purpose)) in others.enumerated() {
                    let token = try await invite(world, names, seed: 201 + 2 * UInt64(index), purpose)
                    await expectError(.notForThis) { try await people.answer(phone, token) }
                }
                let same = try await invite(world, named, seed: 221)
                #expect(try await people.answer(phone, same).apps == apps(named))
                let bank = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
                let word = try await word(of: phone, on: bank, world)
                guard named == "*" else {
                    await expectError(.notForThis) { try await world.catalog.add(word) }
                    return
                }
                try await world.catalog.add(word)
                try await world.approve(bank, by: [.alice])
                #expect(try await world.publisher.publish(bank) == .published(generation: 1))
                try await world.everybodyFollows(isThorough: false)
            }
        }
    }

    @Test(
        "A passkey for all apps that a statement limits approves those alone, and later statements widen no passkey's")
    func narrowing() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop")
            let people = PasskeyDesk(world: world)
            var stick = PasskeyStory.stick
            try await people.register(stick, .approval, seed: 93)
            stick.counter += 1
            try await bind(world, nil, [(stick, "shop")])
            #expect(try await world.catalog.passkeys().count == 1)
            let bank = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let refused = try await word(of: stick, on: bank, world)
            await expectError(.notForThis) { try await world.catalog.add(refused) }
            stick.counter += 1
            try await world.catalog.add(try await word(of: stick, on: shop.change, world))
            try await world.approve(shop.change, by: [.alice])
            #expect(try await world.publisher.publish(shop.change) == .published(generation: 1))
            try await world.everybodyFollows(of: shop.app, isThorough: false)
            // Removed, it is registered again for what the statement says.
            try await world.catalog.removePasskey(try stick.key.identity, by: "operator")
            let wide = try await invite(world, "*", seed: 301)
            await expectError(.notForThis) { try await people.answer(stick, wide) }
            try await people.answer(stick, try await invite(world, "shop", seed: 303))
            await expectError(.constraint) { try await bind(world, nil, [(stick, "*")], sign: []) }
            await expectError(.constraint) { try await bind(world, nil, [(stick, "bank,shop")], sign: []) }
            try await bind(world, nil, [(stick, "shop")], sign: [])
            #expect(try await world.catalog.approvers().head.index == 2)
        }
    }

    @Test("A passkey that an invitation limits under an earlier version is named for its apps, or not at all")
    func earlier() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop").app
            let (people, phone) = (PasskeyDesk(world: world), PasskeyStory.phone)
            try await people.answer(phone, try await invite(world, "shop", seed: 91))
            try await people.register(PasskeyStory.stick, .approval, seed: 93)
            var stick = PasskeyStory.stick
            stick.counter += 1
            let second = try PasskeyStory.statement(after: try await world.catalog.approvers().head)
            try await world.catalog.append(PasskeyStory.signed(second, [phone, stick]))
            let bank = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            for wider in ["*", "bank", "bank,shop"] {
                await expectError(.constraint) { try await bind(world, nil, [(phone, wider)], sign: []) }
            }
            try await bind(world, nil, [(phone, "shop")], sign: [])
            let refused = try await word(of: phone, on: bank, world)
            await expectError(.notForThis) { try await world.catalog.add(refused) }
            #expect(try await world.catalog.approvers().bound(phone.key.identity)?.apps == [shop])
        }
    }
}
