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

/// Files of a repository that several machines sign again, and their order in the folders.
@Suite(
    "Repositories of several machines", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct SharedRepositoryTests {
    @Test("Of two machines that sign a timestamp again at once one does")
    func timestamps() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publishRepository(RepositoryHolders())
            try await world.pass(86_400)
            let timestamp = RepositoryPath.prefix(of: world.app) + RepositoryPath.timestamp
            let name = Ledger.Name(app: world.app, name: timestamp)
            let before = try #require(world.catalog.ledger.documents[name]?.version)
            let address = try #require(WorldDatabase.current)
            let engine = InterruptedEngine(try await PostgreSQLEngine.open(address, clock: world.clock))
            let catalog = try await Catalog(
                engine, server: Story.server, genesis: Digest(of: world.story.genesis.text), head: second.head,
                time: World.time(world.clock, in: second.url), secrets: [World.secret()])
            let other = Publisher(catalog, folder: second.publicFolder, secret: World.secret())
            engine.interrupt {
                let signed = try await world.publisher.renew().signed
                #expect(signed.contains(timestamp), "\(signed)")
            }
            let round = try await other.renew()
            #expect(engine.wasInterrupted && round.signed == [] && round.problems == [], "\(round)")
            #expect(catalog.ledger.documents[name]?.version == before + 1)
            await engine.close()
        }
    }

    @Test("What is no longer published leaves every machine's folder")
    func withdrawn() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let list = "lists/bank.json"
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.working(on: second) { other in
                #expect(try await other.publisher.deliver().problems == [])
                #expect(try second.publicFolder.read(list) != nil)
                let content = try await world.draft { $0.formats = World.fewFormats.filter { $0.kind == .trustServer } }
                try await world.publish(content, forcing: [.lint])
                _ = try await other.catalog.now()
                #expect(try await other.publisher.deliver().problems == [])
                #expect(try second.publicFolder.read(list) == nil)
            }
        }
    }

    @Test(
        "While a file cannot be written, nothing of the repository that names it is; all of it is there once it can be")
    func obstructed() async throws {
        try await World.withMachines(.postgresql) { world, second in
            try await world.publishRepository(RepositoryHolders())
            try await world.working(on: second) { other in
                // In the place of the folder of what the others name.
                let prefix = RepositoryPath.prefix(of: world.app)
                let targets = second.publicFolder.url.appending(path: prefix + "targets")
                try FileManager.default.createDirectory(
                    at: targets.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data().write(to: targets)
                #expect(try await !other.publisher.deliver().problems.isEmpty)
                for name in [RepositoryPath.timestamp, RepositoryPath.bundle] {
                    #expect(try second.publicFolder.read(prefix + name) == nil, "\(name)")
                }
                try FileManager.default.removeItem(at: targets)
                try await world.pass(5)
                #expect(try await other.publisher.deliver().problems == [])
                #expect(second.publicFolder.paths() == world.publisher.folder.paths())
                #expect(try second.publicFolder.read(prefix + RepositoryPath.timestamp) != nil)
            }
        }
    }

    @Test("A folder gets no file of a repository before those that it names")
    func order() throws {
        let app = try AppName("bank")
        let prefix = RepositoryPath.prefix(of: app)
        let (timestamp, bundle) = (RepositoryPath.timestamp, RepositoryPath.bundle)
        let paths = ["metadata/1.snapshot.json", timestamp, "metadata/2.root.json", bundle]
        var documents: [Ledger.Name: Ledger.Version] = [:]
        for path in paths {
            documents[Ledger.Name(app: app, name: prefix + path)] = Ledger.Version(version: 1, digest: Digest(of: [1]))
        }
        let folder = FilledFolder()
        #expect(folder.missing(documents).map(\.name.name) == paths.map { prefix + $0 })
        for (name, version) in documents { folder.add(name, version) }
        #expect(folder.missing(documents).isEmpty)
    }
}
