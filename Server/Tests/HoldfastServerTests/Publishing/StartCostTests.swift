import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("What a start costs")
struct StartCostTests {
    /// The work of `serve` before the first answer, in another process on the same folder.
    private func start(
        _ world: World, isStarting: Bool = true
    ) async throws -> (engine: CountingEngine, snapshot: PublishedSnapshot) {
        let engine = CountingEngine(
            try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock))
        let publisher = try await world.another(engine)
        try await publisher.catalog.requireKeys(sealedWith: World.secret())
        if isStarting {
            publisher.begin()
            try await publisher.readWhatIsServed()
        } else {
            try await publisher.refresh(compressing: false)
        }
        await engine.close()
        return (engine, publisher.live.current)
    }

    /// The queries that grow with the apps, and how often each may be run for an app.
    private static let most: [(query: String, count: Int)] = [
        // Reading a content verifies and parses all of it: nothing else of a start costs as much.
        ("SELECT content, outlook FROM change", 1),
        ("SELECT identity, text, signature FROM approval", 1),
        // The list of all clients and the canary's.
        ("SELECT octets, signed_at, ends_at FROM document", 2),
        // Once to know whether the secret is the one, and once to open it.
        ("SELECT public_key, secret_id, sealed, program, certificate FROM signing_key", 2),
    ]

    @Test("A start reads what each app has once, however many there are, and makes no document anew")
    func counted() async throws {
        try await World.run { world in
            var before = try await start(world).engine
            for number in 1...3 {
                let (app, change) = try await world.addApp("shop-\(number)")
                try await world.publisher.publish(change)
                let (engine, snapshot) = try await start(world)
                for (query, count) in Self.most {
                    #expect(engine.count(of: query) - before.count(of: query) == count, "\(query), app \(number)")
                }
                #expect(engine.count(of: "SELECT") - before.count(of: "SELECT") == 6, "app \(number)")
                // The chain of approvers and the audit are read for all of them together.
                #expect(engine.count(of: "FROM approver ") == before.count(of: "FROM approver "))
                #expect(engine.count(of: "FROM audit") == before.count(of: "FROM audit"))
                #expect(snapshot.apps[app]?.key != nil && snapshot.documents["lists/\(app).json"] != nil)
                #expect(snapshot.documents.values.allSatisfy { $0.compressed == nil })
                before = engine
                try await world.everybodyFollows(of: app, isThorough: false)
            }
        }
    }

    @Test("All processors together find what one finds, and say the same about what is damaged")
    func hurried() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            var changes: [RandomID] = []
            for number in 1...3 {
                let change = try await world.addApp("shop-\(number)").change
                try await world.publisher.publish(change)
                changes.append(change)
            }
            func compare(problems: Int) async throws {
                let (hurried, calm) = (try await start(world), try await start(world, isStarting: false))
                #expect(hurried.snapshot.documents == calm.snapshot.documents && !calm.snapshot.documents.isEmpty)
                #expect(hurried.snapshot.apps.mapValues(\.parts) == calm.snapshot.apps.mapValues(\.parts))
                #expect(hurried.snapshot.apps.mapValues(\.content) == calm.snapshot.apps.mapValues(\.content))
                #expect(hurried.snapshot.problems == calm.snapshot.problems)
                #expect(calm.snapshot.problems.count == problems, "\(calm.snapshot.problems)")
                #expect(hurried.snapshot.sequence == calm.snapshot.sequence)
            }
            try await compare(problems: 0)
            let damaged = changes.dropLast()
            try await world.engine.write { session throws(ServerError) in
                for change in damaged {
                    _ = try session.run(
                        "UPDATE change SET content = $2 WHERE id = $1", [.bytes(change.bytes), .bytes([1])])
                }
            }
            // An app and its canary each.
            try await compare(problems: 4)
        }
    }
}
