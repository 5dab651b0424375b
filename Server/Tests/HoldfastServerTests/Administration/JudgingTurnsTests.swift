import HoldfastTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import HoldfastServer

@Suite("Turns at having clients judge", .timeLimit(.minutes(5)))
struct JudgingTurnsTests {
    private final class Order: Sendable {
        let tokens = Mutex<[String]>([])
    }

    /// Has calls of tokens come one after another while the first has its turn, and says in which order they ran.
    private func order(_ tokens: [String], _ turns: JudgingTurns) async throws -> [String] {
        let order = Order()
        #expect(await turns.begin("first"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, token) in tokens.enumerated() {
                group.addTask {
                    guard await turns.begin(token) else { return }
                    order.tokens.withLock { $0.append(token) }
                    turns.end(token)
                }
                while turns.waiting <= index { await Task.yield() }
            }
            turns.end("first")
            try await group.waitForAll()
        }
        return order.tokens.withLock { $0 }
    }

    @Test("Many calls of one token hold up another's by one: whose turn is longest ago is next")
    func fairness() async throws {
        let turns = JudgingTurns(1)
        #expect(try await order(["a", "a", "a", "b"], turns).prefix(2) == ["a", "b"])
        #expect(try await order(["a", "a", "first", "c"], turns) == ["c", "a", "first", "a"])
    }

    @Test("One call of a token runs at a time, and no more than the limit of all; sixteen wait, and others are refused")
    func limits() async throws {
        let turns = JudgingTurns(2)
        #expect(await turns.begin("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<JudgingTurns.greatestWait {
                group.addTask {
                    #expect(await turns.begin("a"))
                    turns.end("a")
                }
            }
            while turns.waiting < JudgingTurns.greatestWait { await Task.yield() }
            #expect(await !turns.begin("a"))
            // Another token has room, and a third waits for one of the two.
            #expect(await turns.begin("b"))
            group.addTask {
                #expect(await turns.begin("c"))
                turns.end("c")
            }
            while turns.waiting <= JudgingTurns.greatestWait { await Task.yield() }
            turns.end("b")
            turns.end("a")
            try await group.waitForAll()
        }
        #expect(turns.waiting == 0)
    }

    @Test("Whoever asks for more judging than can wait is asked to come back, and gets everything else")
    func refused() async throws {
        try await AdministrationSite.run { site in
            let change = try await site.propose()
            let turns = JudgingTurns(1)
            let responder = AdministrationResponder(
                publisher: site.world.publisher, counters: ListenerCounters(), readiness: { [] }, turns: turns)
            func answer(_ target: String) async throws -> ListenerAnswer {
                let bearer = try #require(site.tokens["read"]).secretText
                let head = HTTPRequestHead(
                    version: .http1_1, method: .GET, uri: target, headers: ["Authorization": "Bearer \(bearer)"])
                return await responder.answer(ListenerRequest(head: head, body: ByteBuffer(), source: .unknown))
            }
            #expect(await turns.begin("read"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<JudgingTurns.greatestWait {
                    group.addTask {
                        _ = await turns.begin("read")
                        turns.end("read")
                    }
                }
                while turns.waiting < JudgingTurns.greatestWait { await Task.yield() }
                let refused = try await answer("/v1/changes/\(change)/gates")
                let wait = refused.headers.first { $0.name == "Retry-After" }?.value
                #expect(refused.status == .tooManyRequests && wait == "10")
                #expect(try await answer("/v1/changes/\(change)").status == .ok)
                turns.end("read")
                try await group.waitForAll()
            }
            #expect(try await answer("/v1/changes/\(change)/gates").status == .ok)
        }
    }
}
