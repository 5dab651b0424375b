import Foundation
import HoldfastTesting
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

@Suite("What loads of a change's page cost", .timeLimit(.minutes(10)))
struct ChangeLoadTests {
    /// Number of queries, of returned rows, and of reads of everything that an app has.
    private struct Cost: Equatable {
        let queries: Int
        let rows: Int
        let scenes: Int

        init(_ engine: CountingEngine) {
            (queries, rows, scenes) = (
                engine.queries, engine.rows, engine.count(of: "FROM host WHERE app = $1 ORDER BY name, port")
            )
        }

        private init(_ queries: Int, _ rows: Int, _ scenes: Int) {
            (self.queries, self.rows, self.scenes) = (queries, rows, scenes)
        }

        static func - (one: Cost, other: Cost) -> Cost {
            Cost(one.queries - other.queries, one.rows - other.rows, one.scenes - other.scenes)
        }
    }

    private static func counting(
        _ world: World, _ body: (CountingEngine, Publisher) async throws -> Void
    ) async throws {
        let engine = CountingEngine(try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock))
        try await body(engine, try await world.another(engine))
        await engine.close()
    }

    @Test("A load reads as little of many hosts and apps as of few, and of a change that has ended no scene at all")
    func bounded() async throws {
        try await World.run { world in
            let ended = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(ended)
            _ = try await world.publisher.publish(ended)
            try await world.everybodyFollows(isThorough: false)
            let open = try await world.approved().change
            try await Self.counting(world) { engine, publisher in
                func load(_ change: RandomID, _ desk: PageDesk) async throws -> Cost {
                    // The audit is followed before: that is no work of a page.
                    _ = try await publisher.catalog.now()
                    let before = Cost(engine)
                    #expect(try await desk.html("/apps/bank/changes/\(change)").contains("What it changes"))
                    return Cost(engine) - before
                }
                /// The first load of an open change, a later one, and the first of one that has ended.
                func costs() async throws -> [Cost] {
                    let desk = try PageDesk(world, from: publisher)
                    return [try await load(open, desk), try await load(open, desk), try await load(ended, desk)]
                }
                try await world.grow(apps: 0..<5, hosts: 0..<20, alarms: 0..<5)
                let few = try await costs()
                try await world.grow(apps: 5..<500, hosts: 20..<500, alarms: 5..<200)
                let many = try await costs()
                #expect(few.map(\.scenes) == [1, 0, 0] && many.map(\.scenes) == [1, 0, 0], "\(few), \(many)")
                #expect(few.dropFirst() == many.dropFirst(), "\(few), then \(many)")
                #expect(few[1].queries < 20 && few[1].rows < 40, "\(few[1])")
                #expect(many[0].rows > few[0].rows + 4_800)
            }
        }
    }

    @Test("However often at once a session loads the page, clients judge once, and who waits too long is told so")
    func flood() async throws {
        try await World.run { world in
            let id = try await world.approved().change
            try await Self.counting(world) { engine, publisher in
                let desk = try PageDesk(world, from: publisher)
                _ = try await publisher.catalog.now()
                let before = Cost(engine)
                let pages: [ListenerAnswer?] = await withTaskGroup(of: ListenerAnswer?.self) { group in
                    for _ in 0..<50 { group.addTask { await desk.ask("/apps/bank/changes/\(id)") } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect((Cost(engine) - before).scenes == 1)
                #expect(pages.count == 50 && pages.allSatisfy { $0?.status == .ok })
                let texts = pages.compactMap { $0.map { String(buffer: $0.body) } }
                let read = texts.count { $0.contains("What it changes") }
                // One judges, and sixteen wait for it.
                #expect(read >= 17, "\(read)")
                for text in texts where !text.contains("What it changes") {
                    #expect(text.contains("Load this page again to see what this change does"))
                    #expect(!text.contains("Your word"))
                }
            }
        }
    }

    @Test("Who waited while others had their turns gets what was found meanwhile, and is told how old it is")
    func waiting() async throws {
        try await World.run { world in
            let id = try await world.approved().change
            try await Self.counting(world) { engine, publisher in
                let change = try await publisher.catalog.standing(of: id)
                let turns = EvaluationLimiter(1)
                let reader = ChangeReader(turns: turns)
                @Sendable func ask(_ name: String) async throws -> ChangeFacts? {
                    try await reader.facts(
                        about: change, isOpen: true, to: Viewer(name: name, csrfToken: name), from: publisher)
                }
                let before = Cost(engine)
                #expect(await turns.begin("somebody"))
                async let first = ask("alice")
                try await eventually("one waits") { turns.waiting >= 1 }
                world.clock.advance(by: .seconds(61))
                async let second = ask("bob")
                try await eventually("two wait") { turns.waiting >= 2 }
                turns.end("somebody")
                let times = try await [first?.answer?.time, second?.answer?.time]
                #expect(times == [world.now, world.now])
                #expect((Cost(engine) - before).scenes == 1)
                // If sixteen of one session wait, others of it must come back later.
                #expect(await turns.begin("somebody"))
                world.clock.advance(by: .seconds(61))
                let waiting = (0..<EvaluationLimiter.maximumWait).map { _ in Task { try await ask("alice") } }
                try await eventually("as many wait as may") { turns.waiting >= EvaluationLimiter.maximumWait }
                #expect(try await ask("alice") == nil)
                async let other = ask("bob")
                try await eventually("another one waits") { turns.waiting > EvaluationLimiter.maximumWait }
                turns.end("somebody")
                #expect(try await other != nil)
                for task in waiting { #expect(try await task.value != nil) }
                #expect((Cost(engine) - before).scenes == 2)
            }
        }
    }

    @Test("A change that has ended says what it changed, whatever was published after it")
    func ended() async throws {
        try await World.run { world in
            let desk = try PageDesk(world)
            func difference(_ id: RandomID) async throws -> [PageValue] {
                PageValue.record(try await desk.made("/apps/bank/changes/\(id)").content)["difference"]?.values ?? []
            }
            let first = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let before = try await difference(first)
            #expect(before.contains("adds host api.example.com:443"))
            try await world.approve(first)
            _ = try await world.publisher.publish(first)
            #expect(try await difference(first) == before)
            let second = try await world.approved()
            #expect(try await !difference(second.change).contains("adds host api.example.com:443"))
            _ = try await world.publisher.publish(second.change)
            try await world.everybodyFollows(isThorough: false)
            // Also a page that reads it for the first time.
            for fresh in [desk, try PageDesk(world)] {
                let page = PageValue.record(try await fresh.made("/apps/bank/changes/\(second.change)").content)
                let added = page["difference"]?.values.contains { line in
                    guard case .text(let text) = line else { return false }
                    return text.contains("adds certificate \(Digest(of: second.certificate))")
                }
                #expect(added == true)
                #expect(page["unannounced"]?.values.isEmpty == true && page["gates"]?.values.isEmpty == true)
                let earlier = PageValue.record(try await fresh.made("/apps/bank/changes/\(first)").content)
                #expect(earlier["difference"]?.values == before)
            }
        }
    }

    @Test("What was read of changes is kept for the latest that people looked at")
    func room() async throws {
        try await World.run { world in
            var ids: [RandomID] = []
            for _ in 0..<3 { ids.append(try await world.propose(world.draft { $0.formats = World.fewFormats }).change) }
            try await Self.counting(world) { engine, publisher in
                let reader = ChangeReader(room: 2)
                /// How often it was read.
                func ask(_ id: RandomID) async throws -> Int {
                    let change = try await publisher.catalog.standing(of: id)
                    let before = engine.count(of: "SELECT content, outlook FROM change")
                    _ = try await reader.facts(about: change, isOpen: false, to: PageDesk.viewer, from: publisher)
                    world.clock.advance(by: .seconds(1))
                    return engine.count(of: "SELECT content, outlook FROM change") - before
                }
                for id in ids { #expect(try await ask(id) == 1) }
                let again = [try await ask(ids[1]), try await ask(ids[2]), try await ask(ids[0])]
                #expect(again == [0, 0, 1])
            }
        }
    }
}
