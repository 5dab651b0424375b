import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Approving with passkeys over HTTP", .timeLimit(.minutes(5)))
struct PasskeyApprovalTests {
    @Test("Two passkeys and a key file publish a change, passkeys alone do not, and doctor verifies the evidence")
    func approving() async throws {
        try await SignInDesk.run { desk in
            try await desk.letPasskeysApprove()
            let browser = try await desk.signIn()
            let change = try await desk.propose()
            let publisher = desk.world.publisher
            var stick = PasskeyStory.stick
            stick.counter = 5
            for passkey in [PasskeyStory.phone, stick] {
                let answer = try await desk.say(.approve, change, passkey, in: browser)
                #expect(answer.status == 200, "\(answer.text)")
            }
            await expectError(.notApproved) { try await publisher.publish(change) }
            try await desk.world.approve(change, by: [.alice])
            #expect(try await publisher.publish(change) == .published(generation: 1))
            let faults = try await publisher.examine(pages: SoftPasskey.party).filter(\.isFault)
            #expect(faults.isEmpty, "\(faults)")
            let counters = try await desk.world.catalog.passkeys().filter { $0.purpose == .approval }
                .map(\.credential.counter)
            #expect(Set(counters) == [0, 5])
            try await desk.world.everybodyFollows(isThorough: false)
        }
    }

    @Test("With passkeys-only two passkeys publish, and a rejection by a passkey is final")
    func alone() async throws {
        try await SignInDesk.run { desk in
            try await desk.letPasskeysApprove(.passkeysOnly)
            let browser = try await desk.signIn()
            let (first, second) = (try await desk.propose(), try await desk.propose())
            var stick = PasskeyStory.stick
            for (counter, change) in [(7, first), (8, second)] as [(UInt32, RandomID)] {
                stick.counter = counter
                for passkey in [PasskeyStory.phone, stick] {
                    let answer = try await desk.say(.approve, change, passkey, in: browser)
                    #expect(answer.status == 200, "\(answer.text)")
                }
            }
            let rejected = try await desk.say(.reject, second, PasskeyStory.phone, in: browser)
            #expect(rejected.status == 200 && rejected.json["state"] as? String == "rejected", "\(rejected.text)")
            await expectError(.rejected) { try await desk.world.publisher.publish(second) }
            let late = try await desk.say(.approve, second, PasskeyStory.phone, in: browser)
            late.isError(409, .outOfTurn)
            #expect(try await desk.world.publisher.publish(first) == .published(generation: 1))
            try await desk.world.everybodyFollows(isThorough: false)
        }
    }

    /// An attacker controls the page on which a person signs in, and chooses the 32 bytes: those of an approval.
    @Test("A sign-in over the digest of an approval is a good sign-in, and approves nothing when it is handed in")
    func confusion() async throws {
        try await SignInDesk.run { desk in
            try await desk.letPasskeysApprove()
            let visitor = SoftPasskey(number: 31, id: [31])
            let browser = try await desk.signIn(visitor)
            let change = try await desk.propose()
            func asSignIn(_ challenge: PasskeyChallenge) -> PasskeyChallenge {
                var digest = ChosenBytes(Array(challenge.bytes.suffix(32)))
                return .signIn(using: &digest)
            }
            let head = desk.world.catalog.ledger.chain.head
            // By a passkey that may approve, over what begins as a sign-in does;
            let stolen = try await desk.say(.approve, change, PasskeyStory.phone, in: browser, signing: asSignIn)
            stolen.isError(409, .notForThis)
            // and by one that signs in, over the very challenge of the approval.
            let other = try await desk.say(.approve, change, visitor, in: browser)
            other.isError(404, .notFound, field: "passkey")
            #expect(desk.world.catalog.ledger.chain.head == head)
            #expect(try await desk.world.catalog.change(change).approvals.isEmpty)
            // The reverse: a passkey that approves cannot sign in.
            let asked = try await desk.post("/signin/begin", [:])
            let answer = try PasskeyStory.phone.assertion(for: SignInDesk.challenge(asked))
            let signIn = try await desk.post(
                "/signin/finish", SignInDesk.members(answer, of: PasskeyStory.phone.id),
                cookies: [SignInDesk.visitor(asked)])
            signIn.isError(409, .notForThis)
        }
    }

    @Test("What a passkey signed for one change counts for no other, and once more changes nothing")
    func replays() async throws {
        try await SignInDesk.run { desk in
            try await desk.letPasskeysApprove()
            let browser = try await desk.signIn()
            let (first, second) = (try await desk.propose(), try await desk.propose())
            let asked = try await desk.post(
                "/changes/bank/\(first)/approve/begin", ["csrf": browser.csrf], cookies: [browser.cookie])
            var members = SignInDesk.members(
                try PasskeyStory.phone.assertion(for: SignInDesk.challenge(asked)), of: PasskeyStory.phone.id)
            members["csrf"] = browser.csrf
            members["text"] = asked.json["text"]
            func finish(_ path: String) async throws -> RawAnswer {
                try await desk.post("/changes/\(path)/finish", members, cookies: [browser.cookie])
            }
            for path in ["bank/\(second)/approve", "bank/\(first)/reject"] {
                try await finish(path).isError(409, .notForThis, field: "text")
            }
            try await finish("shop/\(first)/approve").isError(404, .notFound, field: "change")
            #expect(try await finish("bank/\(first)/approve").status == 200)
            let approvals = try await desk.world.catalog.change(first).approvals
            #expect(try await finish("bank/\(first)/approve").status == 200)
            #expect(try await desk.world.catalog.change(first).approvals == approvals && approvals.count == 1)
            // Under other words it is no approval.
            members["text"] = (asked.json["text"] as? String)?.replacing("approve", with: "reject")
            try await finish("bank/\(first)/reject").isError(409, .notForThis)
            #expect(try await desk.world.catalog.change(second).approvals.isEmpty)
        }
    }

    @Test("Passkeys that a statement names for the first time sign it on the page, and the others as before")
    func statement() async throws {
        try await SignInDesk.run { desk in
            try await desk.register(PasskeyStory.phone, desk.invite(.approval, seed: 91))
            try await desk.register(PasskeyStory.stick, desk.invite(.approval, seed: 93))
            let browser = try await desk.signIn()
            let head = try await desk.world.catalog.approvers().head
            let statement = try PasskeyStory.statement(after: head)
            let text = String(decoding: statement.bytes, as: UTF8.self)
            func sign(_ text: String, _ passkey: SoftPasskey) async throws -> RawAnswer {
                let members: [String: Any] = ["csrf": browser.csrf, "statement": text]
                let asked = try await desk.post("/approvers/sign/begin", members, cookies: [browser.cookie])
                guard asked.status == 200 else { return asked }
                let assertion = try passkey.assertion(for: SignInDesk.challenge(asked))
                return try await desk.post(
                    "/approvers/sign/finish", members.merging(SignInDesk.members(assertion, of: passkey.id)) { $1 },
                    cookies: [browser.cookie])
            }
            var stick = PasskeyStory.stick
            stick.counter = 2
            var signatures = try [Approver.alice, .bob].map { try $0.signature(of: statement.bytes) }
            for passkey in [PasskeyStory.phone, stick] {
                let answer = try await sign(text, passkey)
                let file = try #require(answer.json["signature"] as? String, "\(answer.text)")
                signatures.append(try ApproverSignature(fileContent: Array(file.utf8)))
            }
            // One that follows another statement, or is for another address, is not signed here.
            let later = try PasskeyStory.statement(after: statement)
            let moved = try PasskeyStory.statement(after: head, at: RelyingParty(origin: "https://example.com"))
            for other in [later, moved] {
                let answer = try await sign(String(decoding: other.bytes, as: UTF8.self), PasskeyStory.phone)
                answer.isError(409, .notForThis, field: "statement")
            }
            try await desk.world.catalog.append(SignedApprovers(text: statement.bytes, signatures: signatures))
            #expect(try await desk.world.catalog.approvers().head == statement)
        }
    }

    /// An attacker who can write to the database, and registers their own key, does not become an approver.
    @Test("A registered passkey that no statement names approves nothing, and its page offers none")
    func unnamed() async throws {
        try await SignInDesk.run { desk in
            try await desk.register(PasskeyStory.phone, desk.invite(.approval, seed: 91))
            let browser = try await desk.signIn()
            let change = try await desk.propose()
            let asked = try await desk.post(
                "/changes/bank/\(change)/approve/begin", ["csrf": browser.csrf], cookies: [browser.cookie])
            asked.isError(404, .notFound, field: "passkey")
            let subject = try await desk.world.catalog.change(change).subject(for: desk.world.catalog.approvers())
            let approval = try PasskeyStory.phone.says(.approve, subject, until: desk.world.now + 3_600)
            let evidence = try PasskeyEvidence(approval.signature.signature)
            await expectError(.invalidSignature) { try await desk.world.catalog.add(approval) }
            #expect(try evidence.verified(over: approval.text, at: SoftPasskey.party).counter == 0)
        }
    }
}
