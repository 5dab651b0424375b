import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite(
    "Places besides the folder", .timeLimit(.minutes(10)), .needs(.program("python3")))
struct PlaceTests {
    private static let list = "lists/bank.json"
    private static let trust = "trust/\(World.customer).json.signed"

    @Test("Documents go to a place, are replaced and removed there, and count once a client has read them back")
    func delivered() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            // Documents that are published already go there as well.
            try await world.publish(try await world.draft { $0.formats = World.fewFormats })
            try await site.set(site.honest())
            let waiting = try await site.publisher.placeFindings(of: world.app)
            #expect(waiting.contains { !$0.isFault && $0.words.contains("clients have not found") })
            let first = try await site.publisher.deliverToPlaces()
            #expect(first.problems == [] && first.confirmed.contains("bucket: \(Self.list)"))
            #expect(site.content(Self.list) == world.publisher.live.current.document(at: Self.list.utf8)?.bytes)
            #expect(try await site.publisher.placeFindings(of: world.app).isEmpty)
            // Nothing waits, so nothing runs.
            #expect(try await site.publisher.deliverToPlaces() == Publisher.Delivery() && site.runs == 1)
            let before = site.content(Self.trust)
            try await world.pass(300)
            _ = try await world.publisher.renew()
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            #expect(site.content(Self.trust) != before)
            let rest = World.fewFormats.filter { $0.kind != .list }
            try await world.publish(try await world.draft { $0.formats = rest }, forcing: [.lint])
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            #expect(site.content(Self.list) == nil && site.content(Self.trust) != nil)
            #expect(try await site.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test("A repository goes to a place as a whole, and a client follows it there from its first root on")
    func repository() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest())
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let delivery = try await site.publisher.deliverToPlaces()
            #expect(delivery.problems == [] && delivery.confirmed.last == "bucket: repo/bank/bundle.json")
            // One file is other than what was signed, and all that was uploaded this time is right.
            let root = site.folder.appending(path: "repo/bank/metadata/1.root.json")
            let good = try Data(contentsOf: root)
            try Data("{}".utf8).write(to: root)
            try await world.pass(86_400)
            _ = try await world.publisher.renew()
            let damaged = try await site.publisher.deliverToPlaces()
            #expect(damaged.confirmed == [] && damaged.problems.count == 1, "\(damaged)")
            try good.write(to: root)
            try await world.pass(900)
            #expect(try await site.publisher.deliverToPlaces().problems == [])
        }
    }

    @Test("A program that fails, hangs or lies: nothing counts as done, doctor says so, and it is tried again")
    func trouble() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await world.publish(try await world.draft { $0.formats = World.formats.filter { $0.kind == .list } })
            for (script, limit, words) in [
                ("echo 'password 9182736455' >&2; exit 3", 120, "found exit code 3"),
                ("kill -9 $$", 120, "signal 9 ended it"),
                ("exec sleep 600", 1, "longer than 1 s, and was ended"),
                ("trap '' TERM; while :; do sleep 600; done", 1, "longer than 1 s, and was ended"),
                ("exec cat /dev/zero", 120, "bytes on its standard output"),
                ("exit 0", 120, "found none"),
                (
                    #"mkdir -p "$1/lists"; for f in objects/lists/*; do echo '{}' >"$1/${f#objects/}"; done"#, 120,
                    "found another"
                ),
                (#"for f in objects/lists/*; do cat objects/lists/* >"$1/${f#objects/}"; done"#, 120, "found another"),
            ] as [(String, Int64, String)] {
                try await site.set(site.shell(script, limit: limit))
                let delivery = try await site.publisher.deliverToPlaces()
                #expect(delivery.confirmed == [] && delivery.problems.count == 1, "\(script): \(delivery)")
                #expect(delivery.problems.first?.contains(words) ?? false, "\(script): \(delivery.problems)")
                #expect(!delivery.problems.joined().contains("9182736455"))
                let findings = try await site.publisher.examine()
                #expect(findings.contains { $0.isFault && $0.words.contains("attempts have failed") }, "\(script)")
                // Not before its pause is over.
                #expect(try await site.publisher.deliverToPlaces() == Publisher.Delivery())
                try await world.pass(900)
            }
            try FileManager.default.removeItem(at: site.folder.appending(path: "lists"))
            try await site.set(site.honest())
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            #expect(try await site.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test("What somebody else has published there is not replaced")
    func foreign() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest())
            try await world.publish(try await world.draft { $0.formats = World.formats.filter { $0.kind == .list } })
            let file = site.folder.appending(path: Self.list)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("theirs".utf8).write(to: file)
            let delivery = try await site.publisher.deliverToPlaces()
            #expect(delivery.confirmed == [] && delivery.problems.first?.contains("exit code 1") ?? false)
            #expect(site.content(Self.list) == Array("theirs".utf8))
        }
    }

    @Test("A publisher that was stopped and comes back after another had its turn starts no program anymore")
    func stale() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest(limit: 10))
            try await world.publish(try await world.draft { $0.formats = World.formats.filter { $0.kind == .list } })
            let engine = try world.interruptible()
            let stopped = try await site.another(engine)
            // It takes its turn, and stops before it takes it again, for longer than that.
            engine.interrupt {
                engine.interrupt {
                    world.clock.advance(by: .seconds(71))
                    let other = try await site.publisher.deliverToPlaces()
                    #expect(other.problems == [])
                }
            }
            let delivery = try await stopped.deliverToPlaces()
            #expect(engine.wasInterrupted)
            #expect(delivery.confirmed == [] && delivery.problems.first?.contains("outOfTurn") ?? false, "\(delivery)")
            #expect(site.runs == 1)
            #expect(try await site.publisher.placeFindings(of: world.app).isEmpty)
            await engine.close()
        }
    }

    @Test("A program that is not fenced is run by its one machine only, and doctor names that machine")
    func unfenced() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest(), onlyPublisher: "here")
            try await world.publish(try await world.draft { $0.formats = World.formats.filter { $0.kind == .list } })
            let other = try await site.another(name: "elsewhere")
            #expect(try await other.deliverToPlaces() == Publisher.Delivery() && site.runs == 0)
            let findings = try await other.placeFindings(of: world.app)
            #expect(
                findings.contains { $0.words.contains("not fenced, so here alone may upload, and this is elsewhere") })
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            #expect(site.runs == 1)
        }
    }

    @Test("Whoever can write to the database chooses neither the program nor the address, and adds no place")
    func attacked() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest())
            try await world.publish(try await world.draft { $0.formats = World.formats.filter { $0.kind == .list } })
            let trace = world.folder.appending(path: "ran")
            let evil = try Place(
                name: PlaceSite.name, url: "https://pins.example.com",
                program: site.shell("touch '\(trace.path)'"))
            let connection = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            _ = try connection.run(
                text: "INSERT INTO place (app, name, octets) VALUES ('bank', 'another', $1)", [.bytes(evil.bytes)])
            _ = try connection.run(
                text: "UPDATE place SET octets = $1 WHERE name = 'bucket'", [.bytes(evil.bytes)])
            let delivery = try await site.publisher.deliverToPlaces()
            #expect(
                delivery.confirmed == [] && delivery.problems.first?.contains("brokenChain") ?? false, "\(delivery)")
            #expect(!FileManager.default.fileExists(atPath: trace.path) && site.runs == 0)
        }
    }

    @Test("Whoever writes somebody else's document into an older row has it replaced, by nothing but what was approved")
    func attackedHistory() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest())
            try await world.publish(try await world.draft { $0.formats = World.fewFormats })
            let file = site.folder.appending(path: Self.trust)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let theirs = Array("theirs".utf8)
            try Data(theirs).write(to: file)
            try await world.pass(300)
            _ = try await world.publisher.renew()
            let connection = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            _ = try connection.run(
                text: "UPDATE document SET digest = $1, octets = $2 WHERE format = $3 AND version = 1",
                [.bytes(Digest(of: theirs).bytes), .bytes(theirs), .text(Self.trust)])
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            let approved = try #require(world.publisher.live.current.document(at: Self.trust.utf8)).bytes
            #expect(site.content(Self.trust) == approved && approved != theirs)
        }
    }

    @Test("A place that was removed gets nothing anymore, and one that is added again gets everything")
    func removed() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await site.set(site.honest())
            try await world.catalog.removePlace(PlaceSite.name, of: world.app, by: "operator")
            await expectError(.notFound) {
                try await world.catalog.removePlace(PlaceSite.name, of: world.app, by: "operator")
            }
            try await world.publish(try await world.draft { $0.formats = World.formats.filter { $0.kind == .list } })
            #expect(try await site.publisher.deliverToPlaces() == Publisher.Delivery() && site.runs == 0)
            try await site.set(site.honest())
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            #expect(site.content(Self.list) != nil)
        }
    }

    @Test("Names and addresses that cannot be are refused")
    func refused() throws {
        let program = try ProgramCommand(["/bin/true"], limit: 10)
        for name in ["", "folder", "Bucket", "a b", String(repeating: "a", count: 33)] {
            expectError(.invalidValue) { try Place(name: name, url: "https://pins.example.com", program: program) }
        }
        for url in [
            "", "pins.example.com", "ftp://pins.example.com", "https://pins.example.com/?a", "https:///x",
            "https://user:word@pins.example.com",
        ] {
            expectError(.invalidValue) { try Place(name: "bucket", url: url, program: program) }
        }
        for words in [[], ["upload"], ["./upload"], ["/upload\0"]] {
            expectError(.invalidValue) { try ProgramCommand(words, limit: 10) }
        }
        for limit in [0, 601] as [Int64] {
            expectError(.invalidValue) { try ProgramCommand(["/bin/true"], limit: limit) }
        }
        let place = try Place(name: "bucket", url: "https://pins.example.com", program: program, onlyPublisher: "web1")
        #expect(try Place(place.bytes) == place)
        expectError(.malformed) { try Place(place.bytes + [0x20]) }
    }
}
