import Foundation
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("What a running server reads again")
struct RereadingTests {
    private static let contents = "SELECT content, outlook FROM change"

    private func counting(_ world: World) async throws -> (publisher: Publisher, engine: CountingEngine) {
        let engine = CountingEngine(
            try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock))
        return (try await world.another(engine), engine)
    }

    /// Expects that the served documents are those that reading everything finds.
    private func expectWhole(_ publisher: Publisher, _ world: World) async throws {
        let kept = publisher.live.current
        let whole = try await world.another(world.engine).refresh()
        #expect(kept.documents == whole.documents && kept.sequence == whole.sequence)
        #expect(kept.apps.mapValues(\.parts) == whole.apps.mapValues(\.parts))
        #expect(kept.apps.mapValues(\.content) == whole.apps.mapValues(\.content))
        #expect(kept.apps.mapValues { $0.key == nil } == whole.apps.mapValues { $0.key == nil })
        #expect(kept.problems == whole.problems)
    }

    @Test("What has not changed stays as it is and is not read; what has changed is read")
    func kept() async throws {
        try await World.run { world in
            try await world.publish(world.draft())
            let (shop, change) = try await world.addApp("shop")
            try await world.publisher.publish(change)
            let (publisher, engine) = try await counting(world)
            try await publisher.refresh(compressing: false)
            #expect(publisher.live.current.documents.values.allSatisfy { $0.compressed == nil })
            func reads(_ count: Int, _ comment: Comment) async throws {
                let before = engine.count(of: Self.contents)
                try await publisher.refresh(keepingUnchanged: true)
                #expect(engine.count(of: Self.contents) - before == count, comment)
                try await expectWhole(publisher, world)
            }
            try await reads(0, "nothing was written, and compressing reads nothing")
            let next = try await world.addApp("store").change
            try await world.publisher.publish(next)
            try await reads(1, "the new app")
            try await world.catalog.addHost(to: shop)
            try await reads(1, "the app whose settings changed")
            let (again, _) = try await world.approved(World.formats)
            try await world.publisher.publish(again)
            try await reads(1, "the app that was published")
            await engine.close()
            try await world.everybodyFollows()
            try await world.everybodyFollows(of: shop, isThorough: false)
        }
    }

    @Test("A certificate that expires is named no longer, although nobody wrote anything")
    func expiring() async throws {
        try await World.run { world in
            try await world.publish(world.draft())
            let (publisher, engine) = try await counting(world)
            let before = try await publisher.refresh().apps[world.app]?.entries.count
            let first = try #require(
                try await world.catalog.draft(of: world.app, .init(formats: World.formats, includesSeen: true)).hosts
                    .flatMap(\.certificates).map(\.expires).min())
            world.clock.advance(by: .seconds(first - world.now))
            try await publisher.refresh(keepingUnchanged: true)
            #expect(publisher.live.current.apps[world.app]?.entries.count == before)
            world.clock.advance(by: .seconds(1))
            try await publisher.refresh(keepingUnchanged: true)
            #expect(publisher.live.current.apps[world.app]?.entries.count == before.map { $0 - 1 })
            try await expectWhole(publisher, world)
            await engine.close()
        }
    }

    @Test("A round passes over apps that had nothing to do, until the audit says something about them")
    func settled() async throws {
        try await World.run { world in
            try await world.publish(world.draft())
            let (shop, change) = try await world.addApp("shop")
            try await world.publisher.publish(change)
            let (publisher, engine) = try await counting(world)
            func reads(skipping: Bool = true) async throws -> Int {
                let before = engine.count(of: Self.contents)
                let round = try await publisher.renew(skippingSettled: skipping)
                #expect(round.problems.isEmpty && round.signed.allSatisfy { $0.hasPrefix("trust/") }, "\(round)")
                return engine.count(of: Self.contents) - before
            }
            let whole = try await reads()
            let resting = try await reads()
            // Trust servers' documents are signed in every round.
            #expect(0 < resting && resting < whole)
            #expect(try await reads() == resting)
            #expect(try await reads(skipping: false) == whole)
            try await world.catalog.addHost(to: shop)
            #expect(try await reads() == whole)
            #expect(try await reads() == resting)
            await engine.close()
            try await world.everybodyFollows()
            try await world.everybodyFollows(of: shop, isThorough: false)
        }
    }
}

extension Catalog {
    /// Changes something about an app that clients never see.
    fileprivate func addHost(to app: AppName) async throws {
        try await set(CatalogHost(name: "other.example.com"), of: app, by: "operator")
    }
}
