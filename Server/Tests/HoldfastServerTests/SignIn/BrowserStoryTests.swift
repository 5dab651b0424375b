import Foundation
import Synchronization
import Testing

@testable import HoldfastServer

@Suite("People at the pages", .timeLimit(.minutes(10)))
struct BrowserStoryTests {
    private static let people = ["dave", "erin"]
    private static let anyPasskey = "button[data-passkey]"

    /// Knows who answers once there is a port.
    private final class Place: Sendable {
        let responders = Mutex<[AddressResponder]>([])
    }

    /// A server that knows by which address browsers find it.
    private func serving(_ world: World, _ body: (RelyingParty) async throws -> Void) async throws {
        let place = Place()
        let answer: AddressResponder = { request in
            for responder in place.responders.withLock({ $0 }) {
                if let answer = await responder(request) { return answer }
            }
            return nil
        }
        try await AdministrationSite.listening(for: world.publisher, beside: [answer]) { port in
            let party = try RelyingParty(origin: "http://localhost:\(port)")
            let responders = try ServerProcess.browsers(world.publisher, party)
            place.responders.withLock { $0 = responders }
            try await body(party)
        }
    }

    /// People do something, and nothing is wrong with any page.
    private func follow(_ steps: [Browser.Step], in folder: URL) async throws -> [Browser.Outcome] {
        let answers = try await Browser.story(steps, in: folder)
        try #require(answers.count == steps.count)
        for (step, answer) in zip(steps, answers) { #expect(answer.problems.isEmpty, "\(step): \(answer)") }
        return answers
    }

    /// Makes a passkey of each kind for each person.
    private func register(_ world: World, at party: RelyingParty) async throws {
        let desk = PasskeyDesk(world: world)
        var steps: [Browser.Step] = []
        var seed: UInt64 = 201
        for person in Self.people {
            for purpose in PasskeyPurpose.allCases {
                let token = PasskeyDesk.token(seed)
                seed += 2
                try await world.catalog.invite(
                    PasskeyDesk.signed(desk.invitation(token, purpose, for: person)))
                steps.append(
                    Browser.Step(
                        person, "\(party.origin)/invitation/\(token.digest)#\(token.secretText)",
                        press: Self.anyPasskey))
            }
        }
        for (step, answer) in zip(steps, try await follow(steps, in: world.folder)) {
            #expect(answer.words.contains("\(step.person) has a passkey"), "\(answer)")
            // The token is gone from the address.
            #expect(!answer.address.contains("#"))
        }
    }

    /// The statement that names the passkeys, signed by those who approve now, and by the passkeys on their page.
    private func nameApprovers(_ world: World, at party: RelyingParty) async throws {
        let holders = try await world.catalog.passkeys().filter { $0.purpose == .approval }
        try #require(holders.count == Self.people.count)
        var members = try [Approver.alice, .bob].map { try $0.member }
        for holder in holders {
            members.append(try ApproverSet.Member(name: holder.person, key: holder.key, isPasskey: true))
        }
        let statement = try ApproverStatement(
            after: try await world.catalog.approvers().head,
            approvers: ApproverSet(members, number: 2, passkeys: PasskeyTerms(.passkeysOnly, at: party)))
        var steps: [Browser.Step] = []
        for person in Self.people {
            steps.append(Browser.Step(person, "\(party.origin)/signin", press: Self.anyPasskey))
            steps.append(
                Browser.Step(
                    person, "\(party.origin)/people", press: Self.anyPasskey,
                    text: String(decoding: statement.octets, as: UTF8.self)))
        }
        var signatures = try [Approver.alice, .bob].map { try $0.signature(of: statement.octets) }
        for answer in try await follow(steps, in: world.folder) where !answer.signature.isEmpty {
            signatures.append(try ApproverSignature(fileContent: Array(answer.signature.utf8)))
        }
        try await world.catalog.append(SignedApprovers(text: statement.octets, signatures: signatures))
    }

    @Test(
        "Two people register, sign in, sign the statement that names them, approve a change on its page, and sign out",
        .enabled(if: Browser.isTested, "needs chromium, and scripts/browser-python"))
    func story() async throws {
        try await World.run { world in
            try await serving(world) { party in
                try await register(world, at: party)
                try await nameApprovers(world, at: party)
                let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
                let (signIn, page) = ("\(party.origin)/signin", "\(party.origin)/apps/bank/changes/\(change)")
                let approve = #"button[data-passkey="approve"]"#
                let answers = try await follow(
                    [
                        Browser.Step("dave", signIn, press: Self.anyPasskey),
                        Browser.Step("dave", page, press: approve),
                        Browser.Step("erin", signIn, press: Self.anyPasskey),
                        Browser.Step("erin", page, press: approve),
                        Browser.Step("dave", page, press: "form.person button"),
                        Browser.Step("dave", "\(party.origin)/"),
                    ], in: world.folder)
                // The overview says what waits, and the page of the change who has approved it.
                #expect(answers[0].address == "\(party.origin)/" && answers[0].main.contains("a test"), "\(answers[0])")
                #expect(answers[1].address == page && answers[1].main.contains("dave"), "\(answers[1])")
                #expect(answers[3].main.contains("erin"), "\(answers[3])")
                // Who has signed out sees nothing.
                #expect(answers[4].address == signIn && answers[5].address == signIn, "\(answers[5])")
                #expect(try await world.catalog.change(change).approvals.count == 2)
                #expect(try await world.publisher.publish(change) == .published(generation: 1))
                try await world.everybodyFollows()
                let faults = try await world.publisher.examine(pages: party).filter(\.isFault)
                #expect(faults.isEmpty, "\(faults)")
            }
        }
    }
}
