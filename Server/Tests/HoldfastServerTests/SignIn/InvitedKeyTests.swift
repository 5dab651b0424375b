import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Invited people register keys that are not theirs: a registration does not prove possession.
@Suite("Keys that somebody was invited with", .timeLimit(.minutes(5)))
struct InvitedKeyTests {
    private func invite(
        _ world: World, _ purpose: PasskeyPurpose, _ apps: Set<AppName>?, seed: UInt64,
        by approvers: [Approver] = [.alice, .bob], _ passkeys: [SoftPasskey] = []
    ) async throws -> AccessToken {
        let token = PasskeyDesk.token(seed)
        let text = try InvitationText(
            server: Story.server, token: token.digest, person: "mallory", purpose: purpose, apps: apps,
            approvers: try await world.catalog.approvers().head.digest, end: world.now + 86_400)
        let evidence = try passkeys.map { ApproverSignature(try $0.evidence(over: text.bytes)) }
        try await world.catalog.invite(
            SignedInvitation(
                text: text.bytes, signatures: try approvers.map { try $0.signature(of: text.bytes) } + evidence))
        return token
    }

    /// A phone that approves shop alone, and a stick that approves everything, beside alice and bob.
    private func letPasskeysApprove(_ world: World, number: Int = 2) async throws {
        let people = PasskeyDesk(world: world)
        try await people.answer(
            PasskeyStory.phone, try await invite(world, .approval, [AppName("shop")], seed: 91))
        try await people.register(PasskeyStory.stick, .approval, seed: 93)
        let statement = try PasskeyStory.statement(
            after: try await world.catalog.approvers().head, number: number)
        try await world.catalog.append(PasskeyStory.signed(statement, [PasskeyStory.phone, stick(1)]))
    }

    /// The stick after some uses.
    private func stick(_ uses: UInt32) -> SoftPasskey {
        var stick = PasskeyStory.stick
        stick.counter += uses
        return stick
    }

    @Test("Nobody registers the key of an approver, of a former one or of a recovery, and what it approved counts")
    func others() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop").app
            let people = PasskeyDesk(world: world)
            let bobs = SoftPasskey(number: 2, id: [2])
            #expect(try bobs.key == Approver.bob.key)
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(change)
            var seed: UInt64 = 101
            func attack(by approvers: [Approver] = [.alice, .bob], _ stolen: SoftPasskey) async throws {
                for purpose in [PasskeyPurpose.approval, .signIn] {
                    for apps in [nil, [shop]] as [Set<AppName>?] {
                        seed += 2
                        let token = try await invite(world, purpose, apps, seed: seed, by: approvers)
                        await expectError(.notForThis) { try await people.answer(stolen, token) }
                    }
                }
            }
            try await attack(bobs)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows(isThorough: false)
            let recovery = try #require(try await world.catalog.approvers().statements.first?.recovery)
            let vault = SoftPasskey(isEd25519: true, number: 11, id: [11])
            #expect(try recovery.member(vault.key.identity) != nil)
            try await attack(vault)
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet([try Approver.alice.member, try Approver.carol.member], number: 2))
            try await world.catalog.append(PasskeyStory.signed(next, by: [.alice, .bob, .carol], []))
            try await attack(by: [.alice, .carol], bobs)
            #expect(try await world.catalog.change(change).approvals.count == 2)
            _ = try await world.publisher.renew()
        }
    }

    @Test("Whoever registers the key of somebody who is about to approve hinders no statement, and has nothing of it")
    func preceding() async throws {
        for (purpose, isLimited, isRemoved) in [
            (PasskeyPurpose.signIn, true, false), (.approval, true, false), (.approval, true, true),
            (.signIn, false, false),
        ] as [(PasskeyPurpose, Bool, Bool)] {
            try await World.run { world in
                let shop = try await world.addApp("shop").app
                let (daves, people) = (SoftPasskey(isEd25519: true, number: 4, id: [4]), PasskeyDesk(world: world))
                let dave = try Approver.dave.identity
                #expect(try daves.key == Approver.dave.key)
                try await people.answer(daves, try await invite(world, purpose, isLimited ? [shop] : nil, seed: 95))
                if isRemoved { try await world.catalog.removePasskey(dave, by: "operator") }
                let session = try await purpose == .signIn ? people.signIn(daves) : nil
                let next = try ApproverStatement(
                    after: try await world.catalog.approvers().head,
                    approvers: ApproverSet([.alice, .bob, .dave].map { (who: Approver) in try who.member }, number: 2))
                // Without a signature by the key itself nothing is decided.
                await expectError(.notApproved) {
                    try await world.catalog.append(PasskeyStory.signed(next, by: [.alice, .bob], []))
                }
                #expect(try await world.catalog.passkeys().count == (isRemoved ? 0 : 1))
                try await world.catalog.append(PasskeyStory.signed(next, by: [.alice, .bob, .dave], []))
                #expect(try await world.catalog.approvers().head == next)
                #expect(try await world.catalog.passkeys().isEmpty)
                if let session { #expect(try await world.catalog.session(of: session) == nil) }
                let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
                try await world.approve(change, by: [.alice, .dave])
                // Another process reads the same from the audit, and the key cannot be registered.
                let engine = try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock)
                let known = try await world.another(engine).catalog.ledger.people
                #expect(known.allows(dave, world.app) && known.passkeys.isEmpty)
                await engine.close()
                let token = try await invite(world, purpose, [shop], seed: 97)
                await expectError(.notForThis) { try await people.answer(daves, token) }
                #expect(try await world.publisher.publish(change) == .published(generation: 1))
                try await world.everybodyFollows(isThorough: false)
            }
        }
    }

    @Test("A passkey that a statement names for certain apps becomes no key file by a later one")
    func reserved() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop").app
            try await letPasskeysApprove(world)
            let phone = try PasskeyStory.phone.key
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet(
                    [Approver.alice.member, Approver.bob.member, ApproverSet.Member(name: "phone", key: phone)],
                    number: 2))
            let raw = ApproverSignature(
                identity: phone.identity, signature: try PasskeyStory.phone.signature(of: next.bytes))
            let signatures = try [Approver.alice, .bob].map { try $0.signature(of: next.bytes) } + [raw]
            await expectError(.constraint) {
                try await world.catalog.append(SignedApprovers(text: next.bytes, signatures: signatures))
            }
            #expect(try await world.catalog.approvers().head.index == 1)
            #expect(world.catalog.ledger.people.limits(of: phone.identity) == [shop])
        }
    }

    @Test("A passkey that was removed is registered again for what it was for, and for nothing else")
    func again() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop").app
            let people = PasskeyDesk(world: world)
            // No statement names it yet, and one that does is on its way.
            try await people.register(PasskeyStory.stick, .approval, seed: 93)
            let next = try PasskeyStory.statement(after: try await world.catalog.approvers().head)
            let stick = try PasskeyStory.stick.key.identity
            try await world.catalog.removePasskey(stick, by: "operator")
            let others: [(PasskeyPurpose, Set<AppName>?)] = [(.approval, [shop]), (.signIn, nil), (.signIn, [shop])]
            for (index, (purpose, apps)) in others.enumerated() {
                let token = try await invite(world, purpose, apps, seed: 201 + 2 * UInt64(index))
                await expectError(.notForThis) { try await people.answer(PasskeyStory.stick, token) }
            }
            try await people.answer(PasskeyStory.stick, try await invite(world, .approval, nil, seed: 221))
            try await world.catalog.append(PasskeyStory.signed(next, [PasskeyStory.phone, self.stick(1)]))
            #expect(world.catalog.ledger.people.allows(stick, world.app))
        }
    }

    @Test("A passkey that a statement names never approves other apps, also if it was removed and registered again")
    func lifting() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop").app
            try await letPasskeysApprove(world)
            let people = PasskeyDesk(world: world)
            let phone = try PasskeyStory.phone.key.identity
            try await world.catalog.removePasskey(phone, by: "operator")
            let others: [(PasskeyPurpose, Set<AppName>?)] = [
                (.approval, nil), (.approval, [world.app]), (.approval, [world.app, shop]), (.signIn, nil),
                (.signIn, [shop]),
            ]
            for (index, (purpose, apps)) in others.enumerated() {
                let token = try await invite(world, purpose, apps, seed: 201 + 2 * UInt64(index))
                await expectError(.notForThis) { try await people.answer(PasskeyStory.phone, token) }
            }
            let same = try await invite(world, .approval, [shop], seed: 221)
            #expect(try await people.answer(PasskeyStory.phone, same).apps == [shop])
            #expect(!world.catalog.ledger.people.allows(phone, world.app))
        }
    }

    @Test("Whoever approves certain apps alone agrees to no statement of approvers, and invites nobody to other apps")
    func widening() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop").app
            try await letPasskeysApprove(world)
            let wider: [Set<AppName>?] = [nil, [world.app], [world.app, shop]]
            for (index, apps) in wider.enumerated() {
                await expectError(.notApproved) {
                    _ = try await invite(
                        world, .approval, apps, seed: 301 + 2 * UInt64(index), by: [.alice], [PasskeyStory.phone])
                }
            }
            _ = try await invite(world, .approval, [shop], seed: 311, by: [.alice], [PasskeyStory.phone])
            _ = try await invite(world, .approval, nil, seed: 313, by: [.alice], [PasskeyStory.stick])
            let next = try PasskeyStory.statement(after: try await world.catalog.approvers().head, number: 1)
            await expectError(.notApproved) {
                try await world.catalog.append(PasskeyStory.signed(next, by: [.alice], [PasskeyStory.phone]))
            }
            try await world.catalog.append(
                PasskeyStory.signed(next, by: [.alice], [PasskeyStory.phone, stick(2)]))
            #expect(try await world.catalog.approvers().head.approvers.number == 1)
        }
    }

    @Test("An app that too few people may approve is a fault, and nobody waits for a word of those who may not")
    func enough() async throws {
        try await World.run { world in
            let shop = try await world.addApp("shop")
            try await letPasskeysApprove(world, number: 4)
            let faults = try await world.publisher.examine().filter(\.isFault).map(\.words)
            let fault = "3 of 4 approvers may approve changes of bank, and 4 must agree"
            #expect(faults.count { $0.hasPrefix(fault) } == 1, "\(faults)")
            #expect(!faults.contains { $0.contains("changes of shop") })
            let phone = try PasskeyStory.phone.key.identity
            let chain = try await world.catalog.approvers()
            let change = try await world.propose(
                world.draft { $0.formats = World.fewFormats }, forcing: [.canary]
            ).change
            let silent = try await world.catalog.change(change).silentApprovers(of: chain).map(\.key.identity)
            #expect(silent.count == 3 && !silent.contains(phone))
            let other = try await world.catalog.change(shop.change).silentApprovers(of: chain).map(\.key.identity)
            #expect(other.contains(phone))
            var finder = NoticeFinder(Story.server)
            try await finder.readApprovers(in: world.catalog)
            let told = finder.notices(world.catalog.ledger, world.publisher.live.current, at: world.now)
                .filter { $0.kind == .emergency }.map { String(decoding: $0.bytes, as: UTF8.self) }
            #expect(told.count == 3 && !told.contains { $0.contains("\(phone)") }, "\(told)")
        }
    }
}
