import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("The page of an app", .timeLimit(.minutes(5)))
struct AppPageTests {
    @Test("Each address of a host has the days that are left, what is pinned of what it shows, and when it was seen")
    func addresses() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let short = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(10) }
            try await world.see(short, at: "192.0.2.2", from: ["here"])
            try await world.note(failure: "no answer", at: "192.0.2.3")
            let page = PageValue.record(try await PageDesk(world).made("/apps/bank").content)
            let host = try #require(page["hosts"]?.values.first)
            #expect(host.text("address") == "/apps/bank/hosts/\(World.host)" && host["span"] == .number(5))
            #expect(host.text("backups") == "2 certificates, 2 keys, 1 of them backup")
            let rows = (host["shown"]?.values ?? []).map { ($0.text("place") ?? "", $0) }
            let shown = Dictionary(rows) { first, _ in first }
            let places = ["192.0.2.1 from here", "192.0.2.1 from there", "192.0.2.2 from here", "192.0.2.3 from here"]
            #expect(Set(shown.keys) == Set(places))
            for place in places.prefix(2) {
                let usual = shown[place]
                #expect(usual?.text("ends") == "in 90 days" && usual?.text("endRank") == "", "\(place)")
                #expect(usual?.text("pinned") == "certificate, active leaf key" && usual?.text("pinRank") == "")
                #expect(usual?.text("certificate") == PageText.short(Digest(of: world.shown.der)))
            }
            let ending = shown[places[2]]
            #expect(ending?.text("ends") == "in 10 days" && ending?.text("endRank") == "warn")
            #expect(ending?.text("pinned") == "no pin" && ending?.text("pinRank") == "bad")
            #expect(shown[places[3]]?.text("failure") == "no answer")
            // Hosts without a probe within the hour, and certificates that have ended.
            world.clock.advance(by: .seconds(11 * 86_400))
            let later = PageValue.record(try await PageDesk(world).made("/apps/bank").content)
            let old = later["hosts"]?.values.first?["shown"]?.values.first { $0.text("place") == places[2] }
            #expect(old?.text("seen") == "11 days ago" && old?.text("seenRank") == "warn")
            #expect(old?.text("endRank") == "bad")
        }
    }

    @Test("Documents have versions and ends, keys their digests, and approvers their keys and how many must agree")
    func parts() async throws {
        try await World.run { world in
            let before = PageValue.record(try await PageDesk(world).made("/apps/bank").content)
            #expect(before.text("published") == "nothing yet" && before["documents"]?.values.isEmpty == true)
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let page = PageValue.record(try await PageDesk(world).made("/apps/bank").content)
            #expect(page.text("published")?.hasPrefix("generation 1, ") == true)
            let list = page["documents"]?.values.first { $0.text("path") == "lists/bank.json" }
            #expect(list?["version"] == .number(1) && list?.text("ends")?.hasPrefix("in ") == true)
            let stored = try await world.catalog.newestDocuments { _ in true }.first { $0.path == "lists/bank.json" }
            #expect(try list?.text("digest") == PageText.short(Digest(of: #require(stored).bytes)))
            for key in page["keys"]?.values ?? [] {
                #expect(key.text("custody") == "sealed by this server" && key.text("digest")?.utf8.count == 64)
            }
            #expect(page["keys"]?.values.count == 2)
            #expect(page.text("needed") == "2 of 3 approvers must approve a change, the proposer not among them")
            let approvers = page["approvers"]?.values ?? []
            #expect(Set(approvers.compactMap { $0.text("person") }) == ["alice", "bob", "carol"])
            #expect(Set(approvers.compactMap { $0.text("identity") }).contains("\(try Approver.alice.identity)"))
            #expect(approvers.allSatisfy { $0.text("kind") == "key file or signer" })
            #expect(page["changes"]?.values.first?.text("state") == "published")
        }
    }

    @Test("The page of a host has each address from each vantage, since when and until when it was seen")
    func observations() async throws {
        try await World.run { world in
            world.clock.advance(by: .seconds(7_200))
            try await world.see(world.shown, at: "192.0.2.1", from: ["there"])
            try await world.note(failure: "no answer", at: "192.0.2.9")
            let page = PageValue.record(try await PageDesk(world).made("/apps/bank/hosts/\(World.host)").content)
            let rows = page["observations"]?.values ?? []
            func row(_ place: String, _ vantage: String) -> PageValue? {
                rows.first { $0.text("place") == place && $0.text("vantage") == vantage }
            }
            #expect(rows.count == 3 && page["isCut"] == .flag(false))
            let (here, there) = (row("192.0.2.1", "here"), row("192.0.2.1", "there"))
            #expect(here?.text("first") == PageText.time(Story.now) && here?.text("last") == "2 hours ago")
            #expect(there?.text("first") == PageText.time(Story.now) && there?.text("last") == "now")
            #expect(there?.text("certificate") == PageText.short(Digest(of: world.shown.der)))
            let failed = row("192.0.2.9", "here")
            #expect(failed?.text("failure") == "no answer" && failed?["certificate"] == .flag(false))
        }
    }
}

extension World {
    /// An address of the host cannot be read now.
    fileprivate func note(failure: String, at address: String) async throws {
        let seen = Observation(
            vantage: "here", address: address, chain: nil, failure: failure, firstSeen: now, lastSeen: now)
        try await catalog.note([(host: catalogHost, seen: [seen])], from: "here", of: app, by: "test")
    }
}
