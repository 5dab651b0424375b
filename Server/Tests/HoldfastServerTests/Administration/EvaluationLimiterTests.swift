import HoldfastTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Turns at having clients judge", .timeLimit(.minutes(5)))
struct EvaluationLimiterTests {
    private final class Order: Sendable {
        let tokens = Mutex<[String]>([])
    }

    /// Has calls of tokens come one after another while the first has its turn, and says in which order they ran.
    private func order(_ tokens: [String], _ turns: EvaluationLimiter) async throws -> [String] {
        let order = Order()
        #expect(await turns.begin("first"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, token) in tokens.enumerated() {
                group.addTask {
                    guard await turns.begin(token) else { return }
                    order.tokens.withLock { $0.append(token) }
                    turns.end(token)
                }
                try await eventually("\(token) waits") { turns.waiting > index }
            }
            turns.end("first")
            try await group.waitForAll()
        }
        return order.tokens.withLock { $0 }
    }

    @Test("Many calls of one token hold up another's by one: whose turn is longest ago is next")
    func fairness() async throws {
        let turns = EvaluationLimiter(1)
        #expect(try await order(["a", "a", "a", "b"], turns).prefix(2) == ["a", "b"])
        #expect(try await order(["a", "a", "first", "c"], turns) == ["c", "a", "first", "a"])
    }

    @Test("One call of a token runs at a time, and no more than the limit of all; sixteen wait, and others are refused")
    func limits() async throws {
        let turns = EvaluationLimiter(2)
        #expect(await turns.begin("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<EvaluationLimiter.maximumWait {
                group.addTask {
                    #expect(await turns.begin("a"))
                    turns.end("a")
                }
            }
            try await eventually("as many wait as may") { turns.waiting >= EvaluationLimiter.maximumWait }
            #expect(await !turns.begin("a"))
            // Another token has room, and a third waits for one of the two.
            #expect(await turns.begin("b"))
            group.addTask {
                #expect(await turns.begin("c"))
                turns.end("c")
            }
            try await eventually("another one waits") { turns.waiting > EvaluationLimiter.maximumWait }
            turns.end("b")
            turns.end("a")
            try await group.waitForAll()
        }
        #expect(turns.waiting == 0)
    }

    private func answer(
        _ method: HTTPMethod, _ target: String, token: String, body: String = "", _ site: AdministrationSite,
        _ responder: AdministrationResponder
    ) async throws -> ListenerAnswer {
        let bearer = try #require(site.tokens[token]).secretText
        var headers: HTTPHeaders = ["Authorization": "Bearer \(bearer)"]
        if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
        return await responder.answer(ListenerRequest(head: head, body: ByteBuffer(string: body), source: .unknown))
    }

    /// Does something while a call of a token has its turn, and as many of its calls wait as may.
    private func withWaiting(_ token: String, _ turns: EvaluationLimiter, _ body: () async throws -> Void) async throws
    {
        #expect(await turns.begin(token))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<EvaluationLimiter.maximumWait {
                group.addTask {
                    _ = await turns.begin(token)
                    turns.end(token)
                }
            }
            try await eventually("as many wait as may") { turns.waiting >= EvaluationLimiter.maximumWait }
            try await body()
            turns.end(token)
            try await group.waitForAll()
        }
    }

    @Test("Every call that has clients judge, or makes keys and signs all with them, waits for its turn")
    func everyCall() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.propose()
            let turns = EvaluationLimiter(1)
            let responder = AdministrationResponder(
                publisher: site.world.publisher, counters: ListenerCounters(), health: { ServerHealth() }, turns: turns)
            let head = site.world.catalog.ledger.chain.head
            let digest = ServerFoundation.Digest(of: site.world.announced.der)
            let calls: [(HTTPMethod, String, token: String, body: String)] = [
                (.GET, "/v1/apps/bank/hosts/\(World.host)/next/\(digest)/ready", "gate", ""),
                (.GET, "/v1/changes/\(change)/gates", "administer", ""),
                (.POST, "/v1/changes", "administer", AdministrationSite.proposal()),
                (.POST, "/v1/changes/\(change)/publish", "administer", ""),
                (.POST, "/v1/changes/\(change)/drafts", "administer", ""),
                (.POST, "/v1/apps/bank/repository/drafts", "administer", #"{"files":[]}"#),
                (.POST, "/v1/apps/bank/repository/publish", "administer", ""),
                (.POST, "/v1/apps/bank/repository/rotate", "administer", ""),
                (.POST, "/v1/apps/bank/keys/fingerprints/replace", "administer", #"{"replaces":"x"}"#),
            ]
            for (method, target, token, body) in calls {
                try await withWaiting(token, turns) {
                    let refused = try await answer(method, target, token: token, body: body, site, responder)
                    let wait = refused.headers.first { $0.name == "Retry-After" }?.value
                    #expect(refused.status == .tooManyRequests && wait == "10", "\(method) \(target)")
                }
            }
            #expect(site.world.catalog.ledger.chain.head == head)
        }
    }

    @Test("Whoever asks for more judging than can wait is asked to come back, and gets everything else")
    func refused() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.propose()
            let turns = EvaluationLimiter(1)
            let responder = AdministrationResponder(
                publisher: site.world.publisher, counters: ListenerCounters(), health: { ServerHealth() }, turns: turns)
            func answer(_ target: String) async throws -> ListenerAnswer {
                try await self.answer(.GET, target, token: "read", site, responder)
            }
            try await withWaiting("read", turns) {
                let refused = try await answer("/v1/changes/\(change)/gates")
                let wait = refused.headers.first { $0.name == "Retry-After" }?.value
                #expect(refused.status == .tooManyRequests && wait == "10")
                #expect(try await answer("/v1/changes/\(change)").status == .ok)
            }
            #expect(try await answer("/v1/changes/\(change)/gates").status == .ok)
        }
    }
}
