import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("People with passkeys", .timeLimit(.minutes(5)))
struct PasskeyStoreTests {
    private func atDesk(_ body: (PasskeyDesk, Catalog) async throws -> Void) async throws {
        try await World.run { world in try await body(PasskeyDesk(world: world), world.catalog) }
    }

    @Test("Somebody whom approvers invited makes a passkey, signs in with it, and is signed out by a person")
    func course() async throws {
        try await atDesk { desk, catalog in
            let phone = SoftPasskey(counter: 3)
            let registered = try await desk.register(phone)
            #expect(registered.person == "dave")
            #expect(try await catalog.passkeys() == [registered])
            var used = phone
            used.counter = 4
            let token = try await desk.signIn(used)
            let signedIn = try #require(try await catalog.session(of: token))
            #expect(signedIn.passkey.person == "dave" && signedIn.passkey.credential.counter == 4)
            #expect(try await catalog.sessions() == [signedIn])
            // The token of a session is no bearer's, and the other way about.
            #expect(try await catalog.grant(of: token) == nil)
            // Another process knows the same.
            let again = try await desk.world.another(desk.world.engine).catalog
            #expect(try await again.session(of: token) == signedIn)
            try await again.endSession(signedIn.session, by: "operator")
            #expect(try await catalog.session(of: token) == nil)
            await expectError(.notFound) { try await catalog.endSession(signedIn.session, by: "operator") }
        }
    }

    @Test("An invitation needs the approvals of a change, is for these approvers and this time, and is used once")
    func invitations() async throws {
        try await atDesk { desk, catalog in
            let token = PasskeyDesk.token(51)
            let text = try await desk.invitation(token)
            await expectError(.notApproved) { try await catalog.invite(PasskeyDesk.signed(text, by: [.alice])) }
            await expectError(.notApproved) {
                try await catalog.invite(PasskeyDesk.signed(text, by: [.alice, .alice]))
            }
            await expectError(.invalidSignature) {
                try await catalog.invite(PasskeyDesk.signed(text, by: [.alice, .mallory]))
            }
            let late = try await desk.invitation(token, until: desk.world.now - 1)
            await expectError(.notForThis) { try await catalog.invite(PasskeyDesk.signed(late)) }
            await expectError(.notFound) { try await desk.answer(SoftPasskey(), token) }
            try await catalog.invite(PasskeyDesk.signed(text))
            await expectError(.constraint) { try await catalog.invite(PasskeyDesk.signed(text)) }
            try await desk.answer(SoftPasskey(), token)
            // It invites no other person, and cannot be stored again.
            await expectError(.notFound) { try await desk.answer(SoftPasskey(number: 22, id: [2]), token) }
            await expectError(.constraint) { try await catalog.invite(PasskeyDesk.signed(text)) }
            // One whose time is over before it is used.
            let other = PasskeyDesk.token(53)
            try await catalog.invite(
                PasskeyDesk.signed(desk.invitation(other, until: desk.world.now + 60)))
            desk.world.clock.advance(by: .seconds(61))
            await expectError(.notForThis) { try await desk.answer(SoftPasskey(number: 22, id: [2]), other) }
            // One of approvers who count no longer.
            let third = PasskeyDesk.token(55)
            try await catalog.invite(PasskeyDesk.signed(desk.invitation(third)))
            let next = try ApproverStatement(
                after: try await catalog.approvers().head,
                approvers: ApproverSet(try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
            try await catalog.append([Approver.alice, .bob, .dave].sign(next))
            await expectError(.notForThis) { try await desk.answer(SoftPasskey(number: 22, id: [2]), third) }
        }
    }

    @Test("A challenge is answered once, within two minutes, and only what was answered is kept")
    func challenges() async throws {
        try await atDesk { desk, catalog in
            let phone = SoftPasskey()
            try await desk.register(phone)
            var first: PasskeyCeremony?
            _ = try await desk.signIn(phone) { first = $0 }
            let answered = try #require(first)
            let replayed = try phone.assertion(for: answered.challenge)
            var generator = SystemRandomNumberGenerator()
            await expectError(.notForThis) {
                try await catalog.signIn(replayed, with: phone.id, answering: answered, using: &generator)
            }
            // An old answer to a new challenge leaves that as it is: its browser may still answer it.
            let next = try await catalog.beginSignIn(using: &generator)
            await expectError(.notForThis) {
                try await catalog.signIn(replayed, with: phone.id, answering: next, using: &generator)
            }
            let answer = try phone.assertion(for: next.challenge)
            _ = try await catalog.signIn(answer, with: phone.id, answering: next, using: &generator)
            await expectError(.notForThis) {
                try await desk.signIn(phone) { _ in desk.world.clock.advance(by: .seconds(121)) }
            }
            await expectError(.notFound) { try await desk.signIn(SoftPasskey(number: 22, id: [2])) }
            #expect(try await catalog.sessions().count == 2)
            // However many ask, what was answered is all that there is: a registration and two sign-ins, of which those that
            // could not be answered anymore are gone with the next.
            for _ in 0..<2_000 { _ = try await catalog.beginSignIn(using: &generator) }
            _ = try await desk.signIn(phone)
            let kept = try await desk.world.engine.read { session throws(ServerError) in
                try session.run("SELECT count(*) FROM passkey_challenge").first?.integer(0)
            }
            #expect(kept == 1)
        }
    }

    @Test("A passkey has eight sessions, and the oldest ends for a ninth; no other passkey's does")
    func sessionsOfPasskey() async throws {
        try await atDesk { desk, catalog in
            let (phone, other) = (SoftPasskey(), SoftPasskey(number: 22, id: [2]))
            try await desk.register(phone)
            try await desk.register(other, seed: 61)
            let others = try await desk.signIn(other)
            var tokens: [AccessToken] = []
            for _ in 0..<10 {
                desk.world.clock.advance(by: .seconds(1))
                tokens.append(try await desk.signIn(phone))
            }
            for (index, token) in tokens.enumerated() {
                #expect((try await catalog.session(of: token) != nil) == (index >= 2), "\(index)")
            }
            #expect(try await catalog.session(of: others) != nil)
            #expect(try await catalog.sessions().count == Catalog.maximumSessionsOfPasskey + 1)
        }
    }

    @Test("A session ends after its time, and with its passkey")
    func ends() async throws {
        try await atDesk { desk, catalog in
            let registered = try await desk.register(SoftPasskey())
            let token = try await desk.signIn(SoftPasskey())
            desk.world.clock.advance(by: .seconds(Catalog.sessionSpan))
            #expect(try await catalog.session(of: token) != nil)
            desk.world.clock.advance(by: .seconds(1))
            #expect(try await catalog.session(of: token) == nil)
            #expect(try await catalog.sessions().isEmpty)
            let second = try await desk.signIn(SoftPasskey())
            // The first is forgotten.
            #expect(catalog.ledger.people.sessions.count == 1)
            let identity = registered.credential.key.identity
            try await catalog.removePasskey(identity, by: "operator")
            #expect(try await catalog.session(of: second) == nil)
            #expect(try await catalog.passkeys().isEmpty)
            await expectError(.notFound) { try await desk.signIn(SoftPasskey()) }
            await expectError(.notFound) { try await catalog.removePasskey(identity, by: "operator") }
        }
    }

    @Test("A passkey is registered once, under an id and with a key that no other has")
    func twice() async throws {
        try await atDesk { desk, catalog in
            let first = try await desk.register(SoftPasskey())
            for (seed, other) in [
                (61, SoftPasskey()), (63, SoftPasskey(number: 22)), (65, SoftPasskey(id: [7])),
            ] as [(UInt64, SoftPasskey)] {
                await expectError(.constraint) { try await desk.register(other, seed: seed) }
            }
            #expect(try await catalog.passkeys() == [first])
        }
    }

    @Test("A passkey signs in or approves, and one that a statement of approvers names signs nobody in anymore")
    func purposes() async throws {
        try await atDesk { desk, catalog in
            try await desk.register(PasskeyStory.phone, .approval)
            await expectError(.notForThis) { try await desk.signIn(PasskeyStory.phone) }
            try await desk.register(PasskeyStory.stick, .signIn, seed: 43)
            let statement = try PasskeyStory.statement(after: try await catalog.approvers().head)
            var stick = PasskeyStory.stick
            stick.counter += 1
            let session = try await desk.signIn(stick)
            // The statement counts, and what was registered ends.
            try await catalog.append(PasskeyStory.signed(statement))
            #expect(try await catalog.session(of: session) == nil)
            await expectError(.notFound) { try await desk.signIn(stick) }
            #expect(try await catalog.passkeys().map(\.key) == [PasskeyStory.phone.key])
            let token = PasskeyDesk.token(45)
            try await catalog.invite(PasskeyDesk.signed(desk.invitation(token)))
            await expectError(.notForThis) { try await desk.answer(PasskeyStory.stick, token) }
        }
    }

    @Test("The counter of a passkey that approves has to rise, and the same approval once more changes nothing")
    func counters() async throws {
        try await atDesk { desk, catalog in
            var stick = PasskeyStory.stick
            try await desk.register(stick, .approval)
            stick.counter = 2
            let statement = try PasskeyStory.statement(after: try await catalog.approvers().head)
            try await catalog.append(PasskeyStory.signed(statement, [PasskeyStory.phone, stick]))
            let change = try await desk.world.propose(desk.world.draft { $0.formats = World.fewFormats }).change
            let subject = try await catalog.change(change).subject(for: catalog.approvers())
            let end = desk.world.now + 86_400
            await expectError(.counterNotRisen) { try await catalog.add(stick.says(.approve, subject, until: end)) }
            stick.counter = 3
            let approval = try stick.says(.approve, subject, until: end)
            for _ in 0..<2 { try await catalog.add(approval) }
            #expect(try await catalog.passkeys().map(\.credential.counter) == [3])
            await expectError(.counterNotRisen) { try await catalog.add(stick.says(.reject, subject, until: end)) }
            #expect(try await catalog.change(change).approvals == [approval])
        }
    }

    @Test("Rows that somebody else wrote let nobody in")
    func attacks() async throws {
        try await atDesk { desk, catalog in
            let phone = SoftPasskey()
            let registered = try await desk.register(phone)
            let identity = registered.credential.key.identity
            let token = try await desk.signIn(phone)
            let forged = PasskeyDesk.token(71)
            let end = StorageValue.integer(desk.world.now + 1_000_000)
            try await desk.write(
                "INSERT INTO session (digest, passkey, ends_at) VALUES ($1, $2, $3)",
                [.bytes(forged.digest.bytes), .bytes(identity.bytes), end])
            #expect(try await catalog.session(of: forged) == nil)
            try await desk.write("UPDATE session SET ends_at = $1", [end])
            await expectError(.brokenChain) { try await catalog.session(of: token) }
            // An invitation that no approver signed, and one for something else than was approved.
            let text = try await desk.invitation(forged)
            try await desk.write(
                "INSERT INTO invitation (digest, text) VALUES ($1, $2)",
                [.bytes(forged.digest.bytes), .bytes(text.bytes)])
            await expectError(.notFound) { try await desk.answer(SoftPasskey(number: 22, id: [2]), forged) }
            try await catalog.invite(PasskeyDesk.signed(text))
            let other = try await desk.invitation(forged, .approval)
            try await desk.write("UPDATE invitation SET text = $1", [.bytes(other.bytes)])
            await expectError(.brokenChain) { try await desk.answer(SoftPasskey(number: 22, id: [2]), forged) }
            // A passkey that was never registered, and another key in the place of a registered one.
            let thief = RegisteredPasskey(try SoftPasskey(number: 66, id: [6]).credential(), of: "dave")
            try await desk.write(
                "INSERT INTO passkey (identity, credential, octets, counter) VALUES ($1, $2, $3, 0)",
                [.bytes(thief.credential.key.identity.bytes), .bytes([6]), .bytes(thief.bytes)])
            await expectError(.notFound) { try await desk.signIn(SoftPasskey(number: 66, id: [6])) }
            try await desk.write(
                "UPDATE passkey SET octets = $1 WHERE identity = $2",
                [.bytes(thief.bytes), .bytes(identity.bytes)])
            await expectError(.brokenChain) { try await desk.signIn(SoftPasskey(number: 66)) }
            await expectError(.brokenChain) { try await catalog.passkeys() }
        }
    }

    @Test("Nobody is signed in or invited after a backup was restored, and passkeys are there")
    func restoring() async throws {
        try await World.settled { world in
            try await world.publish()
            let desk = PasskeyDesk(world: world)
            let registered = try await desk.register(SoftPasskey())
            let token = try await desk.signIn(SoftPasskey())
            let invitation = PasskeyDesk.token(81)
            try await world.catalog.invite(PasskeyDesk.signed(desk.invitation(invitation)))
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            try await world.restored(backup, known: world.catalog.ledger.chain.head) { restored, _ in
                let people = restored.catalog.ledger.people
                #expect(people.sessions.isEmpty && people.invitations.isEmpty)
                #expect(try await restored.catalog.session(of: token) == nil)
                #expect(try await restored.catalog.passkeys() == [registered])
                let rows = try await restored.engine.read { session throws(ServerError) in
                    try session.run("SELECT digest FROM session UNION SELECT digest FROM invitation")
                }
                #expect(rows.isEmpty)
            }
        }
    }

    @Test("A damaged passkey or invitation has its one spelling, or is none")
    func mutations() async throws {
        let passkey = RegisteredPasskey(try SoftPasskey().credential(), of: "dave")
        let read = campaign(0x9A55, [passkey.bytes]) { mutant in
            let damaged = try RegisteredPasskey(mutant, counter: 0)
            #expect(damaged.bytes == mutant)
        }
        #expect(read > 0)
        let text = try InvitationText(
            server: Story.server, token: PasskeyDesk.token(1).digest, person: "dave", purpose: .signIn,
            approvers: Story().chain.head.digest, end: Story.end)
        #expect(try InvitationText(text.bytes) == text)
        let invitations = campaign(0x19F1, [text.bytes]) { mutant in
            let damaged = try InvitationText(mutant)
            #expect(damaged.bytes == mutant)
        }
        #expect(invitations > 0)
    }
}
