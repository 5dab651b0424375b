import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("One app's fault and the folder's are nobody else's")
struct AppsApartTests {
    private func damage(_ change: RandomID, _ world: World) async throws {
        try await world.engine.write { session throws(ServerError) in
            _ = try session.run("UPDATE change SET content = $2 WHERE id = $1", [.bytes(change.bytes), .bytes([1])])
        }
    }

    @Test("An app whose rows are damaged is served as before, and others are published and signed again")
    func apart() async throws {
        try await World.run { world in
            let (shop, change) = try await world.addApp("shop")
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let before = world.publisher.live.current
            try await damage(change, world)

            try await world.pass(300)
            let trust = "trust/\(World.customer).json.signed"
            let round = try await world.publisher.renew()
            #expect(round.signed.contains(trust))
            #expect(round.problems.contains { $0.utf8.starts(with: "shop: brokenChain".utf8) }, "\(round.problems)")
            let after = world.publisher.live.current
            #expect(after.document(at: trust.utf8) != before.document(at: trust.utf8))
            #expect(after.document(at: "lists/shop.json".utf8) == before.document(at: "lists/shop.json".utf8))
            #expect(after.problems.count == 2 && after.problems.allSatisfy { $0.contains("served as before") })
            // The app's content has not changed, so challenges are answered.
            #expect(after.apps[shop]?.key != nil)

            // The other app changes while the fault is there.
            let outcome = try await world.publisher.publish(world.approved().change)
            #expect(outcome.stage == .published(generation: 2))
            #expect(outcome.problems.contains { $0.contains("shop is served as before") })
            #expect(try await world.publisher.examine().contains { $0.isFault && $0.words.contains("shop") })
        }
    }

    @Test("Of an app whose newest content cannot be read, no challenge is answered with an older one")
    func olderContent() async throws {
        try await World.run { world in
            let (shop, change) = try await world.addApp("shop")
            try await world.publisher.publish(change)
            try await world.everybodyFollows(of: shop, isThorough: false)
            let other = Publisher(world.catalog, folder: world.publisher.folder, secret: World.secret())
            try await other.follow()
            #expect(other.live.current.apps[shop]?.key != nil)
            let content = try await world.catalog.draft(of: shop, Catalog.DraftOptions(lifetime: 100 * 86_400))
            let second = try await world.propose(content).change
            try await world.approve(second)
            try await world.publisher.publish(second)
            try await world.everybodyFollows(of: shop, isThorough: false)
            try await damage(second, world)
            #expect(try await !other.follow().isEmpty)
            #expect(other.live.current.apps[shop]?.content.digest != content.digest)
            #expect(other.live.current.apps[shop]?.key == nil)
            #expect(other.live.current.document(at: "lists/shop.json".utf8) != nil)
        }
    }

    @Test("A change is published although the folder cannot be written: the fault is a line, and it is tried again")
    func folder() async throws {
        try await World.run { world in
            let place = world.folder.appending(path: "public")
            try Data("in the way".utf8).write(to: place)
            let change = try await world.approved().change
            let outcome = try await world.publisher.publish(change)
            #expect(outcome.stage == .published(generation: 1))
            #expect(outcome.problems.contains { $0.utf8.starts(with: "lists/bank.json: file".utf8) }, "\(outcome)")
            try await world.everybodyFollows()
            try FileManager.default.removeItem(at: place)
            try await world.pass(5)
            #expect(try await world.publisher.follow() == [])
            #expect(try world.publisher.folder.read("lists/bank.json") != nil)
        }
    }

    @Test("A document on its way to the folder that makes no sense holds up no other")
    func onItsWay() async throws {
        try await World.run { world in
            let place = world.folder.appending(path: "public")
            try Data("in the way".utf8).write(to: place)
            let (_, change) = try await world.addApp("shop")
            try await world.publisher.publish(change)
            try await world.publisher.publish(world.approved().change)
            try await world.everybodyFollows()
            try FileManager.default.removeItem(at: place)
            try await world.pass(60)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE document SET octets = $1 WHERE app = 'shop'", [.bytes([1])])
            }
            let delivery = try await world.publisher.deliver()
            #expect(delivery.confirmed.contains("lists/bank.json") && !delivery.confirmed.contains("lists/shop.json"))
            #expect(delivery.problems.contains { $0.contains("lists/shop.json") }, "\(delivery.problems)")
        }
    }

    @Test("A link in the folder leads the server nowhere else")
    func links() async throws {
        try await withFolder { folder in
            let place = PublicFolder(folder.appending(path: "public"), versions: folder.appending(path: "versions"))
            let elsewhere = folder.appending(path: "elsewhere")
            try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: elsewhere.appending(path: "a.json"))
            try FileManager.default.createSymbolicLink(
                at: place.url.appending(path: "lists"), withDestinationURL: elsewhere)
            expectError(.file) { try place.write([1], at: "lists/a.json", version: 1) }
            expectError(.file) { try place.remove("lists/a.json", version: 1) }
            #expect(try Data(contentsOf: elsewhere.appending(path: "a.json")) == Data("mine".utf8))
        }
    }
}
