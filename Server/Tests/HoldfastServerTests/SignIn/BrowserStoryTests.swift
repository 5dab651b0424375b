import Foundation
import HoldfastNIOTesting
import HoldfastTesting
import Synchronization
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("People at the pages", .timeLimit(.minutes(10)))
struct BrowserStoryTests {
    private static let people = ["dave", "erin"]
    /// A person who may add and propose, and approves nothing.
    private static let keeper = "frank"
    private static let send = ".entry button"
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
            let responders = try ServerProcess.browsers(world.publisher, party).responders
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
        let token = PasskeyDesk.token(seed)
        try await world.catalog.invite(
            PasskeyDesk.signed(desk.invitation(token, .signIn, for: Self.keeper, scope: .administer)))
        let link = "\(party.origin)/invitation/\(token.digest)#\(token.secretText)"
        steps.append(Browser.Step(Self.keeper, link, press: Self.anyPasskey))
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
                    text: String(decoding: statement.bytes, as: UTF8.self)))
        }
        var signatures = try [Approver.alice, .bob].map { try $0.signature(of: statement.bytes) }
        for answer in try await follow(steps, in: world.folder) where !answer.signature.isEmpty {
            signatures.append(try ApproverSignature(fileContent: Array(answer.signature.utf8)))
        }
        try await world.catalog.append(SignedApprovers(text: statement.bytes, signatures: signatures))
    }

    /// A person at a page, who looks.
    private func looks(
        at addresses: String..., in folder: URL, party: RelyingParty
    ) async throws -> [String] {
        let steps =
            [Browser.Step("dave", "\(party.origin)/signin", press: Self.anyPasskey)]
            + addresses.map { Browser.Step("dave", party.origin + $0) }
        return try await follow(steps, in: folder).dropFirst().map(\.main)
    }

    /// The keeper adds an app and its host: one with a script, the other without.
    private func add(_ port: Int, _ world: World, _ party: RelyingParty) async throws {
        let anchors = PEMText.block("CERTIFICATE", of: world.root.root)
        let answers = try await follow(
            [
                Browser.Step(Self.keeper, "\(party.origin)/signin", press: Self.anyPasskey),
                Browser.Step(Self.keeper, "\(party.origin)/", press: #"a[href="/add/app"]"#),
                Browser.Step(
                    Self.keeper, "\(party.origin)/add/app", press: Self.send,
                    filling: ["#name": "shop", "#title": "Shop", "#canary": "0", "#anchors": anchors],
                    ticking: ["#unshipped"]),
                Browser.Step(Self.keeper, "\(party.origin)/apps/shop", press: #"a[href="/add/host/shop"]"#),
                Browser.Step(
                    Self.keeper, "\(party.origin)/add/host/shop", press: Self.send,
                    filling: ["#name": World.host, "#port": "\(port)", "#dial": "127.0.0.1"],
                    choosing: ["#renewal": "announced"], script: false),
            ], in: world.folder)
        #expect(answers[1].address == "\(party.origin)/add/app" && answers[1].main.contains("Add an app"))
        #expect(answers[2].address == "\(party.origin)/apps/shop", "\(answers[2])")
        #expect(answers[2].main.contains("Apps are configured with"), "\(answers[2])")
        #expect(answers[3].main.contains("Add a host"), "\(answers[3])")
        #expect(answers[4].address == "\(party.origin)/apps/shop/hosts/\(World.host)?port=\(port)", "\(answers[4])")
    }

    /// The keeper announces what the host shows, what comes next and what lies in a safe, and proposes that.
    private func announce(_ shop: Shop, _ world: World, _ party: RelyingParty) async throws {
        let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
        let host = "\(party.origin)\(PageLink.host(shop.host, of: shop.app))"
        let form = party.origin + PageLink.next(shop.host, of: shop.app)
        var steps = [
            Browser.Step(Self.keeper, "\(party.origin)/signin", press: Self.anyPasskey),
            Browser.Step(Self.keeper, host, press: #"a[href^="/add/next/shop"]"#),
        ]
        for (number, (chain, wait)) in [(world.shown.chain, 0), (world.announced.chain, 3_600), (spare.chain, 1)]
            .enumerated()
        {
            let begins = try #require(UTCText.encode(world.now + Int64(wait)))
            let pem = chain.map { PEMText.block("CERTIFICATE", of: $0) }.joined()
            steps.append(
                Browser.Step(
                    Self.keeper, form, press: Self.send, filling: ["#next": pem, "#begins": begins],
                    byKeys: number == 1, script: number != 2))
        }
        let answers = try await follow(steps, in: world.folder)
        #expect(answers[1].address == form, "\(answers[1])")
        for answer in answers.dropFirst(2) { #expect(answer.address == host, "\(answer)") }
    }

    /// - Returns: the change that the keeper proposed.
    private func propose(_ world: World, _ party: RelyingParty) async throws -> RandomID {
        let answers = try await follow(
            [
                Browser.Step(Self.keeper, "\(party.origin)/signin", press: Self.anyPasskey),
                Browser.Step(Self.keeper, "\(party.origin)/apps/shop", press: #"a[href="/add/change/shop"]"#),
                Browser.Step(
                    Self.keeper, "\(party.origin)/add/change/shop", press: Self.send,
                    filling: ["#reason": "The first pins"]),
            ], in: world.folder)
        #expect(answers[1].main.contains("Propose a change"), "\(answers[1])")
        let last = try #require(answers[2].address.split(separator: "/").last)
        return try #require(RandomID(hex: last.utf8), "\(answers[2])")
    }

    @Test(
        "People register, add an app and a host, announce, propose, approve, see a renewal, an alarm, a report, sign out",
        .needs(.browser))
    func story() async throws {
        try await World.run { world in
            try await serving(world) { party in
                try await register(world, at: party)
                try await nameApprovers(world, at: party)
                try await withLoopbackTLSServer(serving: world.shown) { server in
                    try await story(world, server, party)
                }
                let faults = try await world.publisher.examine(pages: party).filter(\.isFault)
                #expect(faults.isEmpty, "\(faults)")
            }
        }
    }

    /// Everything is done in browsers; each step shows on the pages.
    private func story(_ world: World, _ server: LoopbackTLSServer, _ party: RelyingParty) async throws {
        let folder = world.folder
        try await add(server.port, world, party)
        let added = try #require(try await world.catalog.hosts(of: AppName("shop")).first)
        let shop = try Shop(added: "shop", on: added, in: world)
        let host = "/apps/shop/hosts/\(World.host)?port=\(server.port)"
        var pages = try await looks(at: "/", "/apps/shop", host, in: folder, party: party)
        #expect(pages[0].contains("Shop") && pages[0].contains("It was never probed."), "\(pages[0])")
        #expect(pages[1].contains(shop.host.label) && pages[1].contains("not published"), "\(pages[1])")
        #expect(pages[2].contains("each certificate is announced before it is shown"), "\(pages[2])")

        // Its owner announces what it shows and what comes next, and it is watched.
        try await announce(shop, world, party)
        #expect(try await shop.verdicts() == [.known])
        let (shown, next) = (
            PageText.short(Digest(of: world.shown.der)), PageText.short(Digest(of: world.announced.der))
        )
        pages = try await looks(at: "/apps/shop", host, in: folder, party: party)
        #expect(pages[0].contains(shown) && pages[0].contains("no pin"), "\(pages[0])")
        #expect(pages[1].contains("Announced, from") && pages[1].contains(next), "\(pages[1])")

        let change = try await propose(world, party)
        try await approve(change, world, party)
        guard case .published = try await world.publisher.publish(change).stage else {
            Issue.record("not published")
            return
        }
        try await follows(shop, world.shown)
        pages = try await looks(at: "/apps/shop", host, in: folder, party: party)
        #expect(pages[0].contains("certificate, active leaf key") && !pages[0].contains("no pin"), "\(pages[0])")
        #expect(pages[1].contains("gone at"), "\(pages[1])")

        // The renewal, which clients follow.
        world.clock.advance(by: .seconds(3_600))
        try server.serve(world.announced)
        #expect(try await shop.verdicts() == [.known])
        try await follows(shop, world.announced)
        pages = try await looks(at: "/", "/apps/shop", host, in: folder, party: party)
        #expect(!pages[0].contains("Alarm"), "\(pages[0])")
        #expect(pages[1].contains(next) && !pages[1].contains("no pin"), "\(pages[1])")
        #expect(pages[2].contains("seen at 1 place"), "\(pages[2])")

        // A key that was not announced, and an app that a machine in the middle met.
        let stranger = try world.root.leaf(names: [.dns(World.host)])
        try server.serve(stranger)
        #expect(try await shop.verdicts() == [.unannounced])
        let app = try await StoryApp(world, of: shop)
        try await app.report()
        pages = try await looks(at: "/", host, "/apps/shop/reports?days=1", in: folder, party: party)
        let key = "\(Digest(of: try stranger.subjectPublicKeyInfo))"
        #expect(pages[0].contains("The host presented a key that was not announced: \(key)"), "\(pages[0])")
        #expect(pages[0].contains("As far as reports can be believed"), "\(pages[0])")
        #expect(pages[1].contains("Alert") && pages[1].contains(key), "\(pages[1])")
        let pin = PageText.pin(Digest(of: try app.middle.subjectPublicKeyInfo))
        #expect(pages[2].contains("A client found none of its pins") && pages[2].contains(pin), "\(pages[2])")
        #expect(pages[2].contains("is no pin"), "\(pages[2])")

        try await signOut(party, folder)
    }

    /// Two people read a change and its outlook on its page, and approve it there.
    private func approve(_ change: RandomID, _ world: World, _ party: RelyingParty) async throws {
        let (signIn, page) = ("\(party.origin)/signin", "\(party.origin)/apps/shop/changes/\(change)")
        let approve = #"button[data-passkey="approve"]"#
        let answers = try await follow(
            [
                Browser.Step("dave", signIn, press: Self.anyPasskey), Browser.Step("dave", page),
                Browser.Step("dave", page, press: approve), Browser.Step("erin", signIn, press: Self.anyPasskey),
                Browser.Step("erin", page, press: approve),
            ], in: world.folder)
        // The overview says what waits, and the page of the change what comes of it, and who has approved it.
        #expect(answers[0].address == "\(party.origin)/" && answers[0].main.contains("The first pins"), "\(answers[0])")
        let read = answers[1].main
        for words in [
            "adds host \(World.host)", "Apps that download the signed list", "All clients can connect",
            "outlook passed",
        ] {
            #expect(read.contains(words), "\(words) is not in \(read)")
        }
        #expect(answers[2].address == page && answers[2].main.contains("dave"), "\(answers[2])")
        #expect(answers[4].main.contains("erin"), "\(answers[4])")
        #expect(try await world.catalog.change(change).approvals.count == 2)
    }

    private func follows(_ shop: Shop, _ certificate: TestCertificate) async throws {
        try await shop.world.publisher.everybodyFollows(
            shop.app, lettingIn: [certificate], trusting: shop.world.root, clock: shop.world.clock,
            hostPort: Int(shop.host.port))
    }

    /// Pages are read, forms are sent, and a person signs out in a browser that runs no script; only passkeys need one.
    private func signOut(_ party: RelyingParty, _ folder: URL) async throws {
        let signIn = "\(party.origin)/signin"
        let answers = try await follow(
            [
                Browser.Step("dave", signIn, press: Self.anyPasskey),
                Browser.Step("dave", "\(party.origin)/", script: false),
                Browser.Step(
                    "dave", "\(party.origin)/audit", press: "form.filter button", choosing: ["#event": "alarm"],
                    script: false),
                Browser.Step("dave", "\(party.origin)/", press: "form.person button", script: false),
                Browser.Step("dave", "\(party.origin)/", script: false), Browser.Step("dave", "\(party.origin)/"),
            ], in: folder)
        #expect(answers[1].main.contains("Action needed"), "\(answers[1])")
        let filtered = answers[2].main
        #expect(answers[2].address.contains("event=alarm") && !filtered.contains("invitation\t"), "\(filtered)")
        // A person who has signed out sees nothing.
        #expect(answers[3].address == signIn && answers[3].main.contains("passkeys need JavaScript"), "\(answers[3])")
        #expect(answers[4].address == signIn && answers[5].address == signIn, "\(answers[5])")
    }
}
