import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HoldfastServer

@Suite("Rounds without a database that can be written")
struct OutageTests {
    private static let trust = "trust/\(World.customer).json.signed"
    private static let canaryTrust = "trust/\(World.customer)-canary.json.signed"
    private static let timestamp = "repo/bank/metadata/timestamp.json"
    private static let day: Int64 = 86_400

    private func version(_ world: World, _ path: String = trust) -> Int64? {
        world.catalog.ledger.documents[.init(app: world.app, name: path)]?.version
    }

    /// What the audit says was signed, by path and version. No version is there twice.
    private func signed(_ world: World) async throws -> [String: String] {
        var signed: [String: String] = [:]
        for entry in try await world.catalog.audit(after: -1, limit: 10_000).map({ try AuditEntry($0) })
        where entry.event == .signed {
            let name = "\(entry.facts["format"] ?? "") \(entry.facts["version"] ?? "")"
            #expect(signed.updateValue(entry.facts["digest"] ?? "", forKey: name) == nil, "\(name)")
        }
        return signed
    }

    private func octets(_ world: World, _ path: String = trust) throws -> [UInt8] {
        try #require(world.publisher.live.current.document(at: path.utf8)).octets
    }

    @Test("Clients get a round every five minutes while another program holds the database; then history has them all")
    func locked() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let store = try await world.trustServerStore()
            var served = ["\(Self.trust) 1": "\(Digest(of: try octets(world)))"]
            try await world.withLockedDatabase { publisher in
                for number in 2...4 {
                    world.clock.advance(by: .seconds(300))
                    let round = try await publisher.renew()
                    #expect(round.signed == [Self.trust, Self.canaryTrust] && round.problems == [], "\(round)")
                    #expect(round.outage?.code == .lockedDatabase)
                    try await world.publisher.refresh()
                    _ = try await store.update(mode: .forced)
                    #expect(store.timestamp == world.clock.now)
                    served["\(Self.trust) \(number)"] = "\(Digest(of: try octets(world)))"
                    try await world.everybodyFollows(isThorough: false)
                    // For any web server too.
                    #expect(try world.publisher.folder.read(Self.trust) == octets(world))
                }
                let outage = try #require(try await publisher.outage())
                #expect(outage.rounds == 3 && outage.since == Story.now && outage.until == Story.now + 7 * Self.day)
                #expect(world.publisher.live.current.isAhead)
            }
            #expect(version(world) == 1)
            world.clock.advance(by: .seconds(300))
            let round = try await world.publisher.renew()
            #expect(round.settled.first?.hasPrefix("3 rounds") == true && round.problems == [], "\(round)")
            #expect(version(world) == 5 && version(world, Self.canaryTrust) == 5)
            #expect(try await signed(world).filter { served.keys.contains($0.key) } == served)
            #expect(try await world.publisher.outage() == nil && !world.publisher.live.current.isAhead)
            _ = try await store.update(mode: .forced)
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
            #expect(try world.publisher.folder.version(of: Self.trust) == 5)
        }
    }

    @Test("Nothing is signed for longer than seven days after the database was written last, whatever the journal says")
    func sevenDays() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let written = world.catalog.ledger.latestTime
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(7 * Self.day))
                #expect(try await publisher.renew().signed == [Self.trust, Self.canaryTrust])
                let standing = try await publisher.standing(of: world.app, during: publisher.outage())
                #expect(standing.refusedFrom == written + 7 * Self.day + 601)
                world.clock.advance(by: .seconds(1))
                let round = try await publisher.renew()
                #expect(round.signed == [] && round.problems.count == 1, "\(round)")
                #expect(round.problems.first?.contains("for longer than seven days") == true)
                // Nor with a new journal.
                try FileManager.default.removeItem(at: publisher.catalog.journal.url)
                let another = try await world.another(publisher.catalog.engine)
                #expect(try await another.renew().signed == [])
            }
        }
    }

    @Test("What is in the journal is entered however late the database can be written again")
    func late() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                let round = try await publisher.renew()
                #expect(round.signed.count == 2)
            }
            world.clock.advance(by: .seconds(12 * Self.day))
            #expect(try await world.publisher.renew().problems == [])
            #expect(version(world) == 3)
        }
    }

    @Test("A repository's timestamp is signed each day of an outage, and apps that follow it never see a version twice")
    func repository() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders())
            let apps = try [true, false].map { try world.repositoryApp(isBundle: $0) }
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            try await world.withLockedDatabase { publisher in
                for number in 2...4 as ClosedRange<Int64> {
                    world.clock.advance(by: .seconds(Self.day))
                    let round = try await publisher.renew()
                    #expect(round.signed == [Self.timestamp, "repo/bank/bundle.json"], "\(round)")
                    #expect(try await publisher.renew().signed == [])
                    try await world.publisher.refresh()
                    #expect(try TUFMetadataFile(Data(octets(world, Self.timestamp))).version == number)
                    for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
                    try await world.everybodyFollows(isThorough: false)
                }
            }
            try await world.pass(Self.day)
            #expect(try await world.publisher.renew().problems == [])
            #expect(try TUFMetadataFile(Data(octets(world, Self.timestamp))).version == 5)
            #expect(version(world, Self.timestamp) == 5)
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            try await world.everybodyFollows(isThorough: false)
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test("A process that ended after any step is followed by one that goes on: no version has two contents")
    func steps() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let journal = world.catalog.journal.url
            var beforeEntering = Data()
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                _ = try await publisher.renew()
                beforeEntering = try Data(contentsOf: journal)
            }
            // Written, and nothing else done: neither the folder nor anybody's memory has it.
            try await world.withLockedDatabase { publisher in
                try await publisher.refresh()
                let first = try octets(world)
                #expect(publisher.live.current.document(at: Self.trust.utf8)?.octets != first)
                world.clock.advance(by: .seconds(300))
                _ = try await publisher.renew()
                #expect(try await publisher.outage()?.rounds == 2)
            }
            // Entered, and the journal is as it was.
            let both = try Data(contentsOf: journal)
            #expect(try await world.publisher.enterJournal().count == 1)
            #expect(version(world) == 3)
            for left in [both, beforeEntering] {
                try left.write(to: journal)
                let next = try await world.another(world.engine)
                #expect(try await next.enterJournal() == [])
                let waits = try next.catalog.journal.waits(entered: next.catalog.ledger.journaled)
                #expect(!waits)
            }
            // Entered, as it was, and the database fails again.
            try both.write(to: journal)
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                let round = try await publisher.renew()
                #expect(round.signed.count == 2)
                #expect(try await publisher.outage()?.rounds == 1)
            }
            #expect(try await world.publisher.renew().problems == [])
            #expect(version(world) == 5)
            let signed = try await signed(world)
            #expect((1...5).allSatisfy { signed["\(Self.trust) \($0)"] != nil })
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test("Whoever publishes after an outage enters the journal first, and without the secret nobody publishes")
    func publishing() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let change = try await world.approved().change
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                _ = try await publisher.renew()
                await expectError(.lockedDatabase) { try await publisher.publish(change) }
            }
            let blind = Publisher(world.catalog, folder: world.publisher.folder, secret: nil)
            await expectError(.secretFile) { try await blind.publish(change) }
            // Nothing else that writes documents overlooks it.
            let error = await expectError(.outOfTurn) {
                try await world.catalog.transact { step throws(ServerError) in
                    try Catalog.withdraw(Self.trust, of: world.app, &step)
                }
            }
            #expect(error?.found == "a journal that is not entered yet")
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            #expect(version(world) == 3)
            _ = try await signed(world)
            let store = try await world.trustServerStore()
            _ = try await store.update(mode: .forced)
        }
    }

    @Test("With a journal that somebody changed nothing is signed or published, and what is served is served on")
    func tampered() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let change = try await world.approved().change
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                _ = try await publisher.renew()
            }
            let journal = world.catalog.journal.url
            let good = try Data(contentsOf: journal)
            let text = String(decoding: good, as: UTF8.self)
            for bad in [
                text.replacing("\"version\":2", with: "\"version\":1"), text.replacing("bank", with: "bonk"),
                text.replacing("generation\":1", with: "generation\":2"),
            ] {
                #expect(bad != text)
                try Data(bad.utf8).write(to: journal)
                let next = try await world.another(world.engine)
                await expectError(.brokenChain) { try await next.renew() }
                await expectError(.brokenChain) { try await next.publish(change) }
                #expect(try await !next.refresh().problems.isEmpty)
                #expect(next.live.current.document(at: Self.trust.utf8) != nil)
                #expect(try await next.examine().contains { $0.isFault && $0.words.contains("journal") })
                #expect(version(world) == 1)
            }
            try good.write(to: journal)
            #expect(try await world.publisher.renew().problems == [])
        }
    }

    @Test("A journal that was cut off or taken away is noticed: while the process runs, and by what is in the folder")
    func cutOff() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let journal = world.catalog.journal.url
            try await world.withLockedDatabase { publisher in
                var kept = Data()
                for number in 0..<3 {
                    world.clock.advance(by: .seconds(300))
                    #expect(try await publisher.renew().signed.count == 2)
                    if number == 1 { kept = try Data(contentsOf: journal) }
                }
                for left in [Data(), kept] {
                    try left.write(to: journal)
                    world.clock.advance(by: .seconds(300))
                    let cut = try await publisher.renew()
                    #expect(
                        cut.signed == [] && cut.problems.contains { $0.contains("brokenChain of journal") }, "\(cut)")
                    // Another process knows nothing but the folder.
                    let next = try await world.another(publisher.catalog.engine)
                    let round = try await next.renew()
                    #expect(round.signed == [], "\(round)")
                    #expect(round.problems.contains { $0.contains("version 4") }, "\(round)")
                }
                try FileManager.default.removeItem(at: journal)
            }
            let round = try await world.another(world.engine).renew()
            #expect(round.signed == [] && round.problems.contains { $0.contains("version 4") }, "\(round)")
            #expect(version(world) == 1)
        }
    }

    @Test("An older database with its own head, and a newer journal beside it: nothing is signed with either")
    func olderDatabase() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let old = world.folder.appending(path: "old")
            try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
            try await world.engine.read { session throws(ServerError) in
                try session.copy(to: old.appending(path: "server.db"))
            }
            try FileManager.default.copyItem(
                at: world.folder.appending(path: "head"), to: old.appending(path: "head"))
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                _ = try await publisher.renew()
            }
            try FileManager.default.copyItem(at: world.catalog.journal.url, to: old.appending(path: "journal"))
            let engine = try SQLiteEngine(old.appending(path: "server.db"), clock: world.clock)
            let catalog = try await Catalog(
                engine, server: Story.server, genesis: Digest(of: world.story.genesis.text),
                head: HeadFile(old.appending(path: "head")), time: World.time(world.clock, in: old))
            let place = PublicFolder(old.appending(path: "public"), versions: old.appending(path: "versions"))
            let publisher = Publisher(catalog, folder: place, secret: World.secret())
            let error = await expectError(.brokenChain) { try await publisher.renew() }
            #expect(error?.remedy.contains("older copy") == true)
            #expect(place.paths() == [])
            // The control: the same without the journal.
            try FileManager.default.removeItem(at: old.appending(path: "journal"))
            let next = Publisher(
                try await Catalog(
                    engine, server: Story.server, genesis: Digest(of: world.story.genesis.text),
                    head: HeadFile(old.appending(path: "head")), time: World.time(world.clock, in: old)),
                folder: place, secret: World.secret())
            #expect(try await next.renew().signed.count == 2)
            await engine.close()
        }
    }

    @Test("A clock that went back before the last round of the journal signs nothing")
    func clock() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(500))
                _ = try await publisher.renew()
                world.clock.advance(by: .seconds(-300))
                let round = try await publisher.renew()
                #expect(round.signed == [] && round.problems.contains { $0.contains("clock of journal") }, "\(round)")
            }
            await expectError(.clock) { try await world.publisher.renew() }
            world.clock.advance(by: .seconds(300))
            #expect(try await world.publisher.renew().problems == [])
        }
    }

    @Test("A change of the secret enters the journal first, whose lines are chained under the old one")
    func secrets() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let path = site.server.url.appending(path: "server.db")
            let impatient = try SQLiteEngine(path, clock: site.clock, patience: .zero)
            let catalog = try await Catalog(
                impatient, server: Story.server, genesis: try site.server.readConfiguration().genesis,
                head: site.server.head, time: ServerTime(site.clock))
            let publisher = Publisher(catalog, folder: site.server.publicFolder, secret: site.open.secret)
            let other = try SQLiteConnection(path.path, clock: site.clock)
            try other.execute("BEGIN IMMEDIATE")
            #expect(try await publisher.renew().outage?.code == .lockedDatabase)
            #expect(try await publisher.outage()?.rounds == 1)
            try other.execute("ROLLBACK")
            await impatient.close()
            var generator = SystemRandomNumberGenerator()
            _ = try await site.server.reseal(copy: nil, clock: site.clock, using: &generator, by: "test")
            let open = try await site.server.open(clock: site.clock)
            #expect(open.secretProblem == nil)
            #expect(try await open.publisher.renew().problems == [])
            #expect(open.catalog.ledger.journaled?.count == 1)
            await open.engine.close()
        }
    }
}

extension World {
    /// Another process on the same folder, while a third one holds the lock of the database: it can be read, not written.
    func withLockedDatabase(_ body: (Publisher) async throws -> Void) async throws {
        let engine = try SQLiteEngine(folder.appending(path: "server.db"), clock: clock, patience: .zero)
        let publisher = try await another(engine)
        let other = try SQLiteConnection(folder.appending(path: "server.db").path, clock: clock)
        try other.execute("BEGIN IMMEDIATE")
        let result: Result<Void, any Error>
        do { result = .success(try await body(publisher)) } catch { result = .failure(error) }
        try other.execute("ROLLBACK")
        await engine.close()
        try result.get()
    }
}
