import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Signing and publishing by several machines at once, and the folder of each.
@Suite(
    "Publishing by several machines", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct SharedPublishingTests {
    private static let trust = "trust/\(World.customer).json.signed"

    /// A publisher of the second machine, before whose next transaction that writes something can be done.
    private func interruptible(
        _ world: World, _ machine: ServerFolder
    ) async throws -> (publisher: Publisher, engine: InterruptedEngine) {
        let address = try #require(WorldDatabase.current)
        let engine = InterruptedEngine(try await PostgreSQLEngine.open(address, clock: world.clock))
        let catalog = try await Catalog(
            engine, server: Story.server, genesis: Digest(of: world.story.genesis.text), head: machine.head,
            time: World.time(world.clock, in: machine.url), secrets: [World.secret()])
        return (Publisher(catalog, folder: machine.publicFolder, secret: World.secret()), engine)
    }

    private func version(_ path: String, _ catalog: Catalog, _ world: World) -> Int64? {
        catalog.ledger.documents[.init(app: world.app, name: path)]?.version
    }

    @Test("Of two machines that sign again at once one does, and the other takes it", arguments: StorageKind.remote)
    func atOnce(_ kind: StorageKind) async throws {
        try await World.withMachines(kind) { world, second in
            try await world.publish()
            try await world.pass(300)
            let (other, engine) = try await interruptible(world, second)
            let before = try #require(version(Self.trust, world.catalog, world))
            engine.interrupt {
                let signed = try await world.publisher.renew().signed
                #expect(signed.count == 2)
            }
            let round = try await other.renew()
            #expect(engine.wasInterrupted && round.signed == [] && round.problems == [])
            #expect(version(Self.trust, other.catalog, world) == before + 1)
            // Without anybody else it signs.
            try await world.pass(300)
            #expect(try await other.renew().signed.count == 2)
            await engine.close()
            try await world.publisher.refresh()
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("What another machine has signed lately is left alone, until it is old")
    func sparing() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publish()
            try await world.pass(300)
            #expect(try await world.publisher.renew().signed.count == 2)
            try await world.working(on: second) { other in
                let spared = try await other.publisher.renew(skippingSettled: false, sparing: 145)
                #expect(spared.signed == [] && spared.hasSpared)
                try await world.pass(144)
                #expect(try await other.publisher.renew(skippingSettled: false, sparing: 145).signed == [])
                try await world.pass(1)
                #expect(try await other.publisher.renew(skippingSettled: false, sparing: 145).signed.count == 2)
                #expect(try await other.publisher.renew().signed.count == 2)
            }
            try await world.publisher.refresh()
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("Two machines that publish a change at once publish it once")
    func published() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publish()
            let change = try await world.approved(World.formats).change
            try await world.working(on: second) { other in
                let results = await withTaskGroup(of: Result<Publisher.Outcome, any Error>.self) { group in
                    for publisher in [world.publisher, other.publisher] {
                        group.addTask {
                            do { return .success(try await publisher.publish(change)) } catch { return .failure(error) }
                        }
                    }
                    return await group.reduce(into: [Result<Publisher.Outcome, any Error>]()) { $0.append($1) }
                }
                let published = results.compactMap { try? $0.get() }
                #expect(published.map(\.stage) == [.published(generation: 2)])
                for case .failure(let error) in results {
                    let code = (error as? ServerError)?.code
                    #expect(code == .outOfTurn || code == .gate, "\(error)")
                }
                try await world.publisher.refresh()
                _ = try await other.catalog.now()
                #expect(try await other.publisher.deliver().problems == [])
                let faults = try await other.publisher.examine().filter(\.isFault)
                #expect(faults == [], "\(faults)")
                try await world.everybodyFollows(isThorough: false)
            }
        }
    }

    @Test("Each machine's folder has what any of them has signed, and never an older one")
    func folders() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publish()
            try await world.working(on: second) { other in
                #expect(try await other.publisher.deliver().problems == [])
                func isSame() throws {
                    let paths = world.publisher.folder.paths()
                    #expect(!paths.isEmpty && second.publicFolder.paths() == paths)
                    for path in paths {
                        #expect(try second.publicFolder.read(path) == world.publisher.folder.read(path), "\(path)")
                    }
                }
                try isSame()
                // Signed again, and published.
                try await world.pass(300)
                _ = try await world.publisher.renew()
                try await world.publish(forcing: [.lint])
                let newest = try world.publisher.folder.read(Self.trust)
                _ = try await other.catalog.now()
                #expect(try second.publicFolder.read(Self.trust) != newest)
                #expect(try await other.publisher.deliver().problems == [])
                try isSame()
                // The file that this machine has written already is newer than the one that it was about to write.
                let current = try #require(version(Self.trust, other.catalog, world))
                try second.publicFolder.write([1], at: Self.trust, version: current + 1)
                let fresh = Publisher(other.catalog, folder: second.publicFolder, secret: nil)
                #expect(try await fresh.deliver().problems == [])
                #expect(try second.publicFolder.read(Self.trust) == [1])
            }
        }
    }

    @Test("A folder that cannot be written is a problem, and is filled when it can be")
    func obstructed() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publish()
            try await world.working(on: second) { other in
                try Data().write(to: second.publicFolder.url)
                let problems = try await other.publisher.deliver().problems
                #expect(!problems.isEmpty)
                try FileManager.default.removeItem(at: second.publicFolder.url)
                try await world.pass(5)
                #expect(try await other.publisher.deliver().problems == [])
                #expect(second.publicFolder.paths() == world.publisher.folder.paths())
            }
        }
    }

    @Test("Behind an address of several machines some have a document only fifteen seconds later, which is no failure")
    func spreading() async throws {
        try await World.withMachines(.postgresql) { world, _ in
            let address = "https://pins.example.com"
            try await world.catalog.set(FolderAddress(address), of: world.app, by: "operator")
            let shown = world.folder.appending(path: "shown")
            let publisher = Publisher(
                world.catalog, folder: world.publisher.folder, secret: World.secret(), live: world.publisher.live,
                reader: FolderProvider(folder: shown))
            let change = try await world.approved().change
            #expect(try await publisher.publish(change) == .published(generation: 1))
            #expect(await publisher.readBack() == Publisher.Delivery())
            try await world.pass(14)
            #expect(await publisher.readBack() == Publisher.Delivery())
            try FileManager.default.copyItem(at: world.publisher.folder.url, to: shown)
            // It is read at once, and not after a pause.
            let found = await publisher.readBack()
            #expect(found.problems == [] && found.confirmed.contains("\(address): \(Self.trust)"), "\(found)")
            try FileManager.default.removeItem(at: shown)
            try await world.pass(300)
            #expect(try await publisher.renew().signed.count == 2)
            try await world.pass(15)
            let late = await publisher.readBack()
            #expect(late.confirmed == [] && late.problems.count == 2, "\(late)")
            try await publisher.refresh()
            try await world.everybodyFollows(from: publisher)
        }
    }

    @Test("What another machine signed is written to a new machine's folder, and nothing is said to have been changed")
    func secondMachine() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publish()
            try await world.pass(300)
            #expect(try await world.publisher.renew().signed.count == 2)
            let path = "trust/\(World.customer).json.signed"
            try await world.working(on: second) { other in
                #expect(try await other.publisher.deliver().problems == [])
                #expect(try await other.publisher.mendFolder() == Publisher.Delivery())
                let document = try other.publisher.folder.read(path)
                #expect(document != nil)
                // A change in the folder is reported.
                try Data("else".utf8).write(to: other.publisher.folder.url.appending(path: path))
                #expect(try await other.publisher.mendFolder().confirmed == [path])
                #expect(try other.publisher.folder.read(path) == document)
            }
            try await world.everybodyFollows(isThorough: false)
        }
    }
}
