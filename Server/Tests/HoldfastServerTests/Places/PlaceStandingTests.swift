import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite(
    "How places stand", .timeLimit(.minutes(10)), .needs(.program("python3")))
struct PlaceStandingTests {
    private static let formats = World.formats.filter { $0.kind == .list }

    private func standing(_ site: PlaceSite) async throws -> PlaceStanding {
        let all = try await site.publisher.placeStandings(of: site.world.app)
        #expect(all.count == 1)
        return try #require(all.first)
    }

    @Test(
        "When a place got something last, and for how long it has lacked something, also when that is newer each time")
    func lag() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await world.publish(try await world.draft { $0.formats = World.fewFormats })
            try await site.set(site.shell("exit 7"))
            let begun = world.now
            #expect(try await standing(site).state == .waiting)
            _ = try await site.publisher.deliverToPlaces()
            var places = try await standing(site)
            #expect(places.state == .failing && places.failures == 1 && places.delivered == nil, "\(places.words)")
            #expect(
                places.behindSince == begun && places.lag == 0 && places.words.contains("nothing was ever delivered"))
            // A trust server's document is another every few minutes, and none of them arrives.
            for _ in 0..<3 {
                try await world.pass(300)
                _ = try await world.publisher.renew()
            }
            places = try await standing(site)
            #expect(places.behindSince == begun && places.lag == 900, "\(places.words)")
            let since = try #require(UTCText.encode(begun))
            #expect(places.words.contains("since \(since)"), "\(places.words)")

            // The same place, with a program that works: what was before it is of another place.
            try await site.set(site.honest())
            #expect(try await standing(site).behindSince == world.now)
            try await world.pass(60)
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            places = try await standing(site)
            #expect(places.state == .arrived && places.delivered == world.now && places.lag == 0, "\(places.words)")
            #expect(places.behindSince == nil && places.notes == [])
            try await world.pass(300)
            _ = try await world.publisher.renew()
            places = try await standing(site)
            #expect(places.state == .waiting && places.behindSince == world.now && places.delivered == world.now - 300)
        }
    }

    @Test("/metrics has how places stand")
    func metrics() async throws {
        try await World.run { world in
            let site = try PlaceSite(world)
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            try await site.set(site.shell("exit 7"))
            _ = try await site.publisher.deliverToPlaces()
            try await world.pass(120)
            func lines() async throws -> Set<String> {
                var text = ""
                try await AdministrationSite.listening(
                    for: site.publisher, counters: ListenerCounters(), try ListenerSettings(port: 0)
                ) { port in
                    text = try await RawClient(port: port).get("/metrics").body
                }
                return Set(text.split(separator: "\n").map(String.init))
            }
            let behind = try await lines()
            let labels = #"{app="bank",place="bucket"}"#
            #expect(behind.contains("holdfast_place_lag_seconds\(labels) 120"), "\(behind)")
            #expect(behind.contains("holdfast_place_failures\(labels) 1"))
            #expect(!behind.contains { $0.hasPrefix("holdfast_place_delivered_seconds") })
            try await site.set(site.honest())
            _ = try await site.publisher.deliverToPlaces()
            let arrived = try await lines()
            #expect(arrived.contains("holdfast_place_waiting\(labels) 0"), "\(arrived)")
            #expect(arrived.contains("holdfast_place_delivered_seconds\(labels) \(world.now)"))
        }
    }

    @Test("status says how places stand, in words and for programs, and is not content with one that fails")
    func status() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            try await desk.see()
            let proposed = try await desk.run(
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--reason", "x", "--no-proposer")
            let change = String(proposed.split(separator: "\n")[0].dropFirst("change ".count))
            for name in ["alice", "bob"] {
                _ = try await desk.run("approve", change, "--data", desk.data, "--key", "\(name).pem", "--yes")
            }
            _ = try await desk.run("publish", change, "--data", desk.data)
            try await desk.everybodyFollows(isThorough: false)
            #expect(try await desk.run("status", "--data", desk.data, "--json").contains(#""places":[]"#))
            _ = try await desk.run(
                "place", "add", "bank", "bucket", "--data", desk.data, "--url", "https://pins.example.com", "--program",
                "/bin/false")
            #expect(
                try await desk.run("status", "--data", desk.data).contains(
                    "bank, place bucket: clients have not found 2 documents there since "))
            _ = try await desk.run("renew", "--data", desk.data, status: 1)
            let words = try await desk.run("status", "--data", desk.data, status: 1)
            #expect(words.contains("1 attempts have failed; nothing was ever delivered"), "\(words)")
            let answer = try await desk.run("status", "--data", desk.data, "--json", status: 1)
            for part in [
                #""failures":1"#, #""name":"bucket""#, #""state":"failing""#, #""url":"https://pins.example.com""#,
                #""waiting":2"#, #""lag":"#, #""behindSince":"#,
            ] { #expect(answer.contains(part), "\(part): \(answer)") }
        }
    }

    @Test(
        "A restoration reads the backup's own places: what is newer there stays, and one that is gone is left out by name"
    )
    func restored() async throws {
        try await World.settled { world in
            let site = try PlaceSite(world)
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            try await site.set(site.honest())
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.pass(600)
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            #expect(try await site.publisher.deliverToPlaces().problems == [])
            let list = "lists/bank.json"
            // The machine is lost with its folder: only the place has what clients have.
            try await world.restored(backup, places: [], reader: FolderProvider(folder: site.folder)) {
                restored, report in
                #expect(report.adopted.contains(list) && report.held == [world.app], "\(report)")
                #expect(
                    restored.publisher.live.current.document(at: list.utf8)?.bytes.elementsEqual(
                        site.content(list) ?? []) == true)
            }
            await expectError(.file) { try await world.restored(backup, places: []) { _, _ in } }
            try await world.restored(backup, places: [], goneFrom: [PlaceSite.name]) { _, report in
                #expect(report.adopted == [])
            }
        }
    }
}
