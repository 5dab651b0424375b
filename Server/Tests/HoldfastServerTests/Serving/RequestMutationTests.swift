import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// Whole requests, damaged, through the parser and the responders of both listeners, without a socket.
@Suite("Requests, damaged", .timeLimit(.minutes(60)))
struct RequestMutationTests {
    @Test("What apps may send is answered from what is published, or refused, and nothing else is said")
    func apps() async throws {
        let site = try ServingSite()
        let document = ServingSite.document(Array(String(repeating: "list", count: 400).utf8))
        site.publish(documents: ["lists/bank.json": document], apps: [try site.app()])
        let name = try AppName("bank")
        let inbox = ReportInbox()
        inbox.intake.replace(with: [name: ReportHosts([(name: World.host, port: 443)])])
        let responder = PublicResponder(
            live: site.live,
            initialization: InitResponder(budget: SigningBudget(ceiling: 1_000_000), counters: ListenerCounters()),
            time: { ServingSite.now }, instant: { NIODeadline.now().uptimeNanoseconds }, health: { ServerHealth() },
            counters: ListenerCounters(),
            reports: ReportResponder(
                intake: inbox.intake, counters: inbox.counters, instant: { NIODeadline.now().uptimeNanoseconds }))
        let known = "If-None-Match: W/\"other\", \(document.entityTag)"
        let seeds = [
            ParsedRequest.bytes(
                "GET", "/app/init?appName=bank&appVersion=1.2.3&osVersion=17&platform=IOS",
                ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw==", "Accept-Language: de, en;q=0.5"]),
            ParsedRequest.bytes("GET", "/lists/bank.json", ["Accept-Encoding: gzip;q=0.5, br", known]),
            ParsedRequest.bytes(
                "GET", "/lists/bank.json", ["If-Modified-Since: \(document.lastModified ?? "")", "Range: bytes=0-4"]),
            ParsedRequest.bytes("POST", "/reports?appName=bank", [], body: ReportDesk.networkError()),
        ]
        var generator = SeededGenerator(seed: 0xA995)
        var (answered, refused) = (0, 0)
        defer { noteCampaign(of: mutants(inPartsOf: 2)) }
        for number in 0..<mutants(inPartsOf: 2) {
            let mutant = mutated(seeds[number % seeds.count], &generator)
            guard let request = try ParsedRequest.first(of: mutant) else { continue }
            if case .refuse(let answer)? = responder.admission(request.head, from: request.source) {
                #expect((400...503).contains(answer.status.code))
                continue
            }
            guard case .now(let answer) = responder.answer(request) else {
                Issue.record("nothing here waits")
                continue
            }
            switch answer.status {
            case .ok, .notModified, .accepted: answered += 1
            default:
                #expect((400...415).contains(answer.status.code), "\(answer.status)")
                refused += 1
            }
            #expect(answer.headers.allSatisfy { !$0.value.utf8.contains { $0 < 0x20 } })
            while inbox.intake.next() != nil {}
        }
        #expect(answered > 0 && refused > 0)
    }

    @Test("What people's tools and browsers may send is answered or refused, and nobody's place is taken by it")
    func administration() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let signIn = SignInResponder(world.publisher, at: try SoftPasskey.party)
            let pages = try PageResponder(
                world.publisher, script: PageDesk.script, session: { signIn.sessions.known($0) },
                viewer: { request throws(ServerError) in
                    try await signIn.sessions.find(request).map { Viewer(name: $0.person, csrfToken: $0.csrf.text) }
                })
            let people = PasskeyDesk(world: world)
            let phone = SoftPasskey.ed25519
            try await people.register(phone)
            let browser = SignInDesk.Browser(token: try await people.signIn(phone))
            let responder = AdministrationResponder(
                publisher: world.publisher, counters: ListenerCounters(), health: { ServerHealth() },
                // One source guesses for as long as it likes.
                rates: AdministrationRates(instant: Self.instants()),
                others: [{ await signIn.answer($0) }, { await pages.answer($0) }])
            let approval = try await world.statement(.alice, of: change)
            let wrong = SignedApproval(
                text: approval.text,
                signature: ApproverSignature(
                    identity: approval.signature.identity, signature: approval.signature.signature.reversed()))
            let read = try #require(site.tokens["read"]).secretText
            let bearer = "Authorization: Bearer \(read)"
            let visitor = "\(PageSessions.visitorCookie)=\(browser.token.secretText)"
            let own = ["Origin: \(SignInDesk.origin)", "Cookie: \(visitor); \(browser.cookie)"]
            var generator = SeededGenerator(seed: 0xAD31)
            let assertion = SignInDesk.members(
                try phone.assertion(for: PasskeyChallenge.signIn(using: &generator)), of: phone.id)
            let body = String(decoding: try JSONSerialization.data(withJSONObject: assertion), as: UTF8.self)
            let seeds = [
                ParsedRequest.bytes("GET", "/v1/apps/bank/hosts/\(World.host)?port=443", [bearer]),
                ParsedRequest.bytes("GET", "/v1/audit?after=1&limit=3", [bearer]),
                ParsedRequest.bytes("GET", "/v1/changes/\(change)/content", [bearer]),
                ParsedRequest.bytes(
                    "POST", "/v1/changes/\(change)/approvals", [bearer], body: AdministrationSite.body(wrong)),
                ParsedRequest.bytes("POST", "/v1/changes", [bearer], body: AdministrationSite.proposal()),
                ParsedRequest.bytes("GET", "/apps/bank/hosts/\(World.host)?port=443", own),
                ParsedRequest.bytes("GET", "/audit?event=seen&app=bank&before=9", own),
                ParsedRequest.bytes("POST", "/signin/finish", own, body: body),
                ParsedRequest.bytes("POST", "/changes/bank/\(change)/approve/begin", own, body: #"{"csrf":"x"}"#),
            ]
            let head = world.catalog.ledger.chain.head
            var statuses: [UInt: Int] = [:]
            defer { noteCampaign(of: mutants(inPartsOf: 10)) }
            for number in 0..<mutants(inPartsOf: 10) {
                let mutant = mutated(seeds[number % seeds.count], &generator)
                guard let request = try ParsedRequest.first(of: mutant) else { continue }
                let answer = await responder.answer(request)
                statuses[answer.status.code, default: 0] += 1
                #expect(answer.status.code < 500, "\(String(decoding: mutant, as: UTF8.self))")
                #expect(answer.headers.allSatisfy { !$0.value.utf8.contains { $0 < 0x20 } })
            }
            for status: UInt in [200, 303, 400, 401, 403, 404] {
                #expect(statuses[status, default: 0] > 0, "\(status) of \(statuses)")
            }
            #expect(world.catalog.ledger.chain.head == head)
            #expect(try await world.catalog.change(change).approvals.isEmpty)
        }
    }

    /// Time for rates that goes so fast that no client is slowed down.
    private static func instants() -> @Sendable () -> UInt64 {
        let instant = ManualInstant()
        return {
            instant.value.withLock { value in
                value += 3_600_000_000_000
                return value
            }
        }
    }
}
