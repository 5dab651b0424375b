import Foundation
import HoldfastProbe
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// People who were invited for certain apps.
@Suite("Invitations for certain apps", .timeLimit(.minutes(5)))
struct InvitedAppTests {
    private func invite(
        _ world: World, _ purpose: PasskeyPurpose, _ apps: Set<AppName>?, seed: UInt64
    ) async throws -> AccessToken {
        let token = PasskeyDesk.token(seed)
        let text = try InvitationText(
            server: Story.server, token: token.digest, person: "dave", purpose: purpose, apps: apps,
            approvers: try await world.catalog.approvers().head.digest, end: world.now + 86_400)
        try await world.catalog.invite(PasskeyDesk.signed(text))
        return token
    }

    @Test("Somebody sees the apps that the invitation names, and learns of no others, at pages and in calls")
    func seeing() async throws {
        try await SignInDesk.run { desk in
            let world = desk.world
            let other = try await world.addApp("shop")
            let phone = SoftPasskey(number: 31, id: [31])
            let token = try await invite(world, .signIn, [world.app], seed: 101)
            try await desk.register(phone, (token: token, path: "/invitation/\(token.digest)"))
            let browser = try await desk.signInAgain(phone)
            let found = try await PageSessions(world.catalog).find(browser.request("/"))?.viewer
            let viewer = try #require(found)
            #expect(viewer.apps == [world.app] && viewer.name == "dave")
            let pages = try PageDesk(world, viewer: viewer)
            #expect(try await pages.html("/").contains("/apps/bank"))
            #expect(try await !pages.html("/").contains("shop"))
            for address in ["/apps/shop", "/apps/shop/changes/\(other.change)", "/audit"] {
                #expect(await pages.ask(address)?.status == .notFound, "\(address)")
            }
            try await desk.letPasskeysApprove()
            let mine = try await desk.propose()
            func begin(_ app: String, _ change: RandomID) async throws -> RawAnswer {
                try await desk.post(
                    "/changes/\(app)/\(change)/approve/begin", ["csrf": browser.csrf], cookies: [browser.cookie])
            }
            let hidden = try await begin("shop", other.change)
            hidden.isError(404, .notFound, field: "change")
            let absent = try await begin("shop", Story.id(9))
            absent.isError(404, .notFound, field: "change")
            #expect(try await begin("bank", mine).status == 200)
            // A person who is invited for all apps sees all of them.
            let all = try await desk.signIn(SoftPasskey(number: 32, id: [32]))
            let open = try await PageSessions(world.catalog).find(all.request("/"))
            #expect(open != nil && open?.apps == nil)
        }
    }

    @Test("A passkey approves the apps that its invitation names, and its signature counts for no other")
    func approving() async throws {
        try await World.run { world in
            let other = try await world.addApp("shop")
            let people = PasskeyDesk(world: world)
            let token = try await invite(world, .approval, [AppName("shop")], seed: 91)
            try await people.answer(PasskeyStory.phone, token)
            try await people.register(PasskeyStory.stick, .approval, seed: 93)
            let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head)
            var stick = PasskeyStory.stick
            stick.counter += 1
            try await world.catalog.append(PasskeyStory.signed(statement, [PasskeyStory.phone, stick]))
            func word(on change: RandomID) async throws -> SignedApproval {
                let chain = try await world.catalog.approvers()
                let subject = try await world.catalog.change(change).subject(for: chain)
                return try PasskeyStory.phone.says(.approve, subject, until: world.now + 86_400)
            }
            let bank = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let refused = try await word(on: bank)
            await expectError(.notForThis) { try await world.catalog.add(refused) }
            try await world.catalog.add(try await word(on: other.change))
            #expect(
                try await world.catalog.change(other.change).approvals.contains {
                    $0.signature.identity == refused.signature.identity
                })
            // A row that an attacker writes into the database is not valid either, also when the passkey was removed.
            for isRemoved in [false, true] {
                if isRemoved {
                    try await world.catalog.removePasskey(refused.signature.identity, by: "operator")
                }
                try await people.write(
                    """
                    INSERT INTO approval (change_id, identity, text, signature, created_at) VALUES ($1, $2, $3, $4, 0) \
                    ON CONFLICT (change_id, identity, text) DO NOTHING
                    """,
                    [
                        .bytes(bank.bytes), .bytes(refused.signature.identity.bytes), .bytes(refused.text),
                        .bytes(refused.signature.signature),
                    ])
                #expect(try await world.catalog.change(bank).approvals.isEmpty)
            }
            try await world.approve(bank, by: [.alice])
            await expectError(.notApproved) { try await world.publisher.publish(bank) }
            // The approval of the other app is still valid.
            try await world.approve(other.change, by: [.alice])
            #expect(try await world.publisher.publish(other.change) == .published(generation: 1))
            try await world.everybodyFollows(of: other.app, isThorough: false)
        }
    }

    @Test("An invitation for an app that is not there invites nobody, and the audit says for which apps one is")
    func unknown() async throws {
        try await World.run { world in
            await expectError(.notFound) { try await invite(world, .signIn, [AppName("nothing")], seed: 41) }
            let token = try await invite(world, .signIn, [world.app], seed: 43)
            #expect(try await world.catalog.invitations().first?.apps == [world.app])
            let passkey = try await PasskeyDesk(world: world).answer(SoftPasskey(), token)
            #expect(passkey.apps == [world.app] && passkey.isFor(world.app))
            #expect(try await world.catalog.passkeys() == [passkey])
            let head = world.catalog.ledger.chain.head.count
            let entries = try await world.catalog.audit(after: head - 3, limit: 2).map { try AuditEntry($0) }
            #expect(entries.map(\.event) == [.invitation, .passkey])
            #expect(entries.allSatisfy { $0.facts["apps"] == "bank" })
        }
    }

    @Test("Behind a proxy each forwarded address has its own share of sign-ins, and nobody else forwards any")
    func proxies() async throws {
        for isTrusted in [true, false] {
            try await World.run { world in
                let hand = ManualInstant()
                let responder = SignInResponder(
                    world.publisher, at: try SoftPasskey.party,
                    rates: SignInRates(instant: { hand.value.withLock { $0 } }))
                let block = isTrusted ? "127.0.0.1/32" : "192.0.2.0/24"
                let settings = try ListenerSettings(port: 0, proxies: TrustedProxies([try AddressBlock(block)]))
                try await AdministrationSite.listening(
                    for: world.publisher, settings, beside: [{ await responder.answer($0) }]
                ) { port in
                    func status(for address: String) async throws -> Int {
                        let lines = [
                            "POST /signin/begin HTTP/1.1", "Host: pins.example.com", "Connection: close",
                            "Content-Type: application/json", "Content-Length: 2", "Origin: \(SignInDesk.origin)",
                            "X-Forwarded-For: \(address)",
                        ]
                        let text = lines.map { $0 + "\r\n" }.joined() + "\r\n{}"
                        return RawAnswer(try await RawClient(port: port).exchange(text)).status
                    }
                    for _ in 0..<40 {
                        let first = try await status(for: "198.51.100.1")
                        #expect(first == 200)
                    }
                    let (same, other) = (try await status(for: "198.51.100.1"), try await status(for: "203.0.113.1"))
                    #expect(same == 429 && other == (isTrusted ? 200 : 429))
                }
            }
        }
    }

    @Test("A session has thirty calls saved, and gets one in two seconds")
    func sessionRates() async throws {
        let hand = ManualInstant()
        try await SignInDesk.run(rates: SignInRates(instant: { hand.value.withLock { $0 } })) { desk in
            let browser = try await desk.signIn()
            let change = try await desk.propose()
            func begin() async throws -> RawAnswer {
                try await desk.post(
                    "/changes/bank/\(change)/approve/begin", ["csrf": browser.csrf], cookies: [browser.cookie])
            }
            // No person has a passkey to approve with.
            for _ in 0..<30 { #expect(try await begin().status == 404) }
            let refused = try await begin()
            refused.isError(429, .tooManyRequests)
            #expect(refused.header("Retry-After") == "2")
            hand.value.withLock { $0 += 2_100_000_000 }
            #expect(try await begin().status == 404)
        }
    }

    @Test("Strangers behind the address of somebody who is signed in take nothing of their share, on no route")
    func strangers() async throws {
        let hand = ManualInstant()
        try await SignInDesk.run(rates: SignInRates(instant: { hand.value.withLock { $0 } })) { desk in
            let browser = try await desk.signIn()
            let change = try await desk.propose()
            let path = "/changes/bank/\(change)/approve/begin"
            while try await desk.post("/signin/begin", [:]).status == 200 {}
            try await desk.post("/signin/begin", [:]).isError(429, .tooManyRequests)
            for path in [path, "/approvers/sign/begin"] {
                try await desk.post(path, ["csrf": browser.csrf]).isError(429, .tooManyRequests)
            }
            func signOut(_ cookies: [String]) async throws -> RawAnswer {
                try await desk.post(
                    "/signout", text: "csrf=\(browser.csrf)", cookies: cookies,
                    type: "application/x-www-form-urlencoded")
            }
            try await signOut([]).isError(429, .tooManyRequests)
            let made = SignInDesk.Browser(token: PasskeyDesk.token(7))
            try await desk.post(path, ["csrf": made.csrf], cookies: [made.cookie]).isError(429, .tooManyRequests)
            #expect(try await desk.post(path, ["csrf": browser.csrf], cookies: [browser.cookie]).status == 404)
            #expect(try await signOut([browser.cookie]).status == 303)
            // A visitor who has signed out shares the limit of strangers.
            try await signOut([browser.cookie]).isError(429, .tooManyRequests)
        }
    }
}

extension SignInDesk.Browser {
    /// The browser's request for a page.
    func request(_ target: String) -> ListenerRequest {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        head.headers.add(name: "Cookie", value: cookie)
        return ListenerRequest(head: head, body: ByteBuffer(), source: .unknown)
    }
}
