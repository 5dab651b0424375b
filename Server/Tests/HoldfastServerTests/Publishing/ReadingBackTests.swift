import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Reading back what was written to the folder", .timeLimit(.minutes(10)))
struct ReadingBackTests {
    private static let list = "lists/bank.json"
    private static let address = "https://pins.example.com"

    /// The publisher of a world whose folder clients find at an address, in the state of another folder.
    private func publisher(_ world: World, showing folder: URL) async throws -> Publisher {
        try await world.catalog.set(FolderAddress(Self.address), of: world.app, by: "operator")
        return Publisher(
            world.catalog, folder: world.publisher.folder, secret: World.secret(), live: world.publisher.live,
            reader: FolderProvider(folder: folder))
    }

    private func findings(_ publisher: Publisher, _ world: World) async throws -> [Publisher.Finding] {
        try await publisher.placeFindings(of: world.app)
    }

    @Test("What was written counts once clients of each format have found it at the public address")
    func found() async throws {
        try await World.run { world in
            let site = try ServingSite()
            site.time.withLock { $0 = world.now }
            try await site.listening { port in
                let address = "http://127.0.0.1:\(port)"
                try await world.catalog.set(FolderAddress(address), of: world.app, by: "operator")
                let publisher = Publisher(
                    world.catalog, folder: world.publisher.folder, secret: World.secret(), live: site.live)
                let change = try await world.propose().change
                try await world.approve(change)
                #expect(try await publisher.publish(change) == .published(generation: 1))
                let waiting = try await findings(publisher, world)
                #expect(waiting.contains { !$0.isFault && $0.words.contains("the folder at \(address)") }, "\(waiting)")
                // Nothing but reading it is left to do.
                #expect(try await publisher.deliver() == Publisher.Delivery())
                let delivery = await publisher.readBack()
                #expect(delivery.problems == [] && delivery.forced == [])
                for path in [Self.list, "trust/gcx.json.signed", "pins/bank.pins.json"] {
                    #expect(delivery.confirmed.contains("\(address): \(path)"), "\(delivery)")
                }
                #expect(try await findings(publisher, world).isEmpty)
                #expect(await publisher.readBack() == Publisher.Delivery())
                try await world.everybodyFollows(from: publisher)

                // A round goes the same way.
                try await world.pass(300)
                #expect(try await publisher.renew().problems == [])
                #expect(await publisher.readBack().confirmed.contains("\(address): trust/gcx.json.signed"))
            }
        }
    }

    @Test("A web server that has nothing, something else, or what clients refuse: it says who, and is asked again")
    func other() async throws {
        try await World.run { world in
            let folder = world.folder.appending(path: "www")
            let publisher = try await publisher(world, showing: folder)
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(change)
            #expect(try await publisher.publish(change) == .published(generation: 1))
            let none = await publisher.readBack()
            #expect(none.confirmed == [] && none.problems.count == 4, "\(none)")
            let words = "gate of \(Self.list) at \(Self.address): expected the document that was written, found none"
            let problem = none.problems.first { $0.contains(words) }
            #expect(problem?.contains("CertStore apps with the list \(Self.list)") == true, "\(none.problems)")
            #expect(try await publisher.examine().contains { $0.isFault && $0.words.contains("attempts have failed") })
            // Not before its pause is over.
            #expect(try await publisher.deliver() == Publisher.Delivery())
            #expect(await publisher.readBack() == Publisher.Delivery())

            try FileManager.default.createDirectory(
                at: folder.appending(path: "lists"), withIntermediateDirectories: true)
            try Data("{}".utf8).write(to: folder.appending(path: Self.list))
            try await world.pass(900)
            _ = try await publisher.renew()
            #expect(try await publisher.deliver().problems == [])
            let another = await publisher.readBack()
            #expect(another.problems.contains { $0.contains("\(Self.list) at") && $0.contains("found another") })

            try await world.pass(900)
            _ = try await publisher.renew()
            #expect(try await publisher.deliver().problems == [])
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.copyItem(at: world.publisher.folder.url, to: folder)
            #expect(await publisher.readBack().problems == [])
            #expect(try await findings(publisher, world).isEmpty)
            try await world.everybodyFollows()
        }
    }

    @Test("The very bytes are not enough: clients have to take them")
    func refusedByClients() async throws {
        try await World.run { world in
            let publisher = try await publisher(world, showing: world.publisher.folder.url)
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(change)
            try await publisher.publish(change)
            // Read so late that clients of a trust server take it for old.
            try await world.pass(3_600)
            let delivery = await publisher.readBack()
            #expect(delivery.confirmed.contains("\(Self.address): \(Self.list)"), "\(delivery)")
            let late = delivery.problems.filter { $0.contains("trust-server apps with trust/gcx.json.signed do not: ") }
            #expect(late.count == 1, "\(delivery)")
            try await world.pass(5)
            _ = try await publisher.renew()
            let next = await publisher.readBack()
            #expect(next.problems == [] && next.confirmed.count == 2, "\(next)")
            try await world.everybodyFollows()
        }
    }

    @Test("A repository is followed at the address as a whole, from the root that apps ship with")
    func repository() async throws {
        try await World.run { world in
            let folder = world.folder.appending(path: "www")
            let publisher = try await publisher(world, showing: folder)
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            try FileManager.default.copyItem(at: world.publisher.folder.url, to: folder)
            let bundle = folder.appending(path: "repo/bank/bundle.json")
            let good = try Data(contentsOf: bundle)
            try Data("{}".utf8).write(to: bundle)
            let damaged = await publisher.readBack()
            #expect(damaged.confirmed == [] && !damaged.problems.isEmpty, "\(damaged)")
            try good.write(to: bundle)
            try await world.pass(900)
            #expect(try await publisher.deliver().problems == [])
            let delivery = await publisher.readBack()
            #expect(delivery.problems == [], "\(delivery)")
            #expect(delivery.confirmed.contains("\(Self.address): repo/bank/bundle.json"))
            #expect(try await findings(publisher, world).isEmpty)
        }
    }

    @Test("Where its approvers forced readback, what is not found counts as delivered, with a word about it")
    func forced() async throws {
        try await World.run { world in
            let publisher = try await publisher(world, showing: world.folder.appending(path: "www"))
            let content = try await world.draft { $0.formats = World.fewFormats }
            let change = try await world.propose(content, forcing: [.readback]).change
            await expectError(.notApproved) { try await publisher.publish(change) }
            try await world.approve(change)
            #expect(try await publisher.publish(change) == .published(generation: 1))
            let delivery = await publisher.readBack()
            #expect(delivery.problems == [] && delivery.confirmed.contains("\(Self.address): \(Self.list)"))
            #expect(delivery.forced.contains { $0.hasPrefix("\(Self.list): gate of \(Self.list) at") }, "\(delivery)")
            #expect(try await findings(publisher, world).isEmpty)
            try await world.everybodyFollows()
            // The next change is read back again.
            let next = try await world.approved().change
            #expect(try await publisher.publish(next) == .published(generation: 2))
            #expect(await !publisher.readBack().problems.isEmpty)
        }
    }

    @Test("In the folder itself a forced readback counts as well, and one that nobody forced does not")
    func forcedInFolder() async throws {
        for gates in [Set<Gate>(), [.readback]] {
            try await World.run { world in
                try await world.publish(world.draft { $0.formats = World.fewFormats })
                // Nothing can be written there, and the key is replaced before it is tried again: what was signed before is
                // not what clients with the new key take.
                let file = world.publisher.folder.url.appending(path: Self.list)
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createDirectory(
                    at: file.appending(path: "obstacle"), withIntermediateDirectories: true)
                try await world.pass(60)
                let content = try await world.draft { $0.formats = World.fewFormats }
                let change = try await world.propose(content, forcing: gates).change
                try await world.approve(change)
                #expect(try await world.publisher.publish(change).problems.contains { $0.hasPrefix("\(Self.list): ") })
                let key = try SealedKey(
                    sealing: SigningKey().pem, at: SealedKeyTests.place("list-2"), with: World.secret())
                try await world.catalog.add(Catalog.Key(sealed: key), replacing: true, by: "operator")
                try FileManager.default.removeItem(at: file)
                try await world.pass(60)
                let delivery = try await world.publisher.deliver()
                let isForced = !gates.isEmpty
                #expect(delivery.confirmed.contains(Self.list) == isForced, "\(delivery)")
                #expect(delivery.forced.contains { $0.hasPrefix("\(Self.list): gate") } == isForced, "\(delivery)")
                #expect(delivery.problems.contains { $0.hasPrefix("\(Self.list): gate") } == !isForced, "\(delivery)")
            }
        }
    }

    @Test("Whoever can write to the database does not choose what is asked")
    func attacked() async throws {
        try await World.run { world in
            let publisher = try await publisher(world, showing: world.publisher.folder.url)
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(change)
            try await publisher.publish(change)
            try await world.everybodyFollows(isThorough: false)
            let connection = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            _ = try connection.run(
                text: "UPDATE place SET octets = $1 WHERE name = 'folder'",
                [.bytes(FolderAddress("https://evil.example.com").bytes)])
            let delivery = await publisher.readBack()
            #expect(delivery.confirmed == [], "\(delivery)")
            #expect(delivery.problems.count == 1 && delivery.problems[0].contains("brokenChain"), "\(delivery)")
        }
    }

    @Test("An address that is forgotten is not asked, and one that is none is refused")
    func forgotten() async throws {
        try await World.run { world in
            let publisher = try await publisher(world, showing: world.folder.appending(path: "www"))
            try await world.catalog.removeFolderAddress(of: world.app, by: "operator")
            await expectError(.notFound) {
                try await world.catalog.removeFolderAddress(of: world.app, by: "operator")
            }
            #expect(try await world.catalog.folderAddress(of: world.app) == nil)
            #expect(try await world.catalog.places(of: world.app).isEmpty)
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(change)
            #expect(try await publisher.publish(change) == .published(generation: 1))
            #expect(await publisher.readBack() == Publisher.Delivery())
            #expect(try await findings(publisher, world).isEmpty)
            try await world.everybodyFollows(isThorough: false)
            for text in ["", "pins.example.com", "ftp://pins.example.com", "https://pins.example.com/?a"] {
                expectError(.invalidValue) { try FolderAddress(text) }
            }
            let address = try FolderAddress(Self.address)
            #expect(try FolderAddress(address.bytes) == address)
            expectError(.malformed) { try FolderAddress(address.bytes + [0x20]) }
        }
    }
}
