import Foundation
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("The page of a host", .timeLimit(.minutes(5)))
struct HostPageTests {
    private func facts(_ world: World) async throws -> (AppFacts, AppSnapshot.Host) {
        let place = AppFacts.Place(name: World.host, port: 443)
        let facts = try await AppFacts(of: world.app, .one(place), in: world.catalog)
        return (facts, try #require(facts.hosts.first))
    }

    @Test("The timeline has what is seen, coming and pinned, and when everybody has a pin")
    func timeline() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            try await world.approve(id)
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            let published = world.now
            try await world.pass(86_400)
            let (facts, host) = try await facts(world)
            let staleness = facts.app.settings.staleness
            let timeline = HostPage(facts, host).timeline
            let shown = try #require(timeline.rows.first { $0.digest == Digest(of: world.shown.der) })
            #expect(shown.seen == world.now - 86_400...world.now && shown.coming == nil)
            #expect(shown.pinned?.lowerBound == published && shown.everybody == published + staleness)
            #expect(shown.note == "seen at 1 place")
            let next = try #require(timeline.rows.first { $0.digest == Digest(of: world.announced.der) })
            #expect(next.seen == nil && next.coming?.lowerBound == Story.now + World.month)
            #expect(next.pinned != nil && next.note == "announced")
            #expect(timeline.everybody == published + staleness)
            let page = PageValue.record(HostPage(facts, host).content)
            #expect(page.text("lastWithout")?.contains("in 6 days") == true, "\(page.text("lastWithout") ?? "")")
            #expect(page["lines"]?.values.count == timeline.rows.count)
            let pictures = page["pictures"]?.values ?? []
            #expect(pictures.map { $0.text("form") } == ["wide", "narrow"])
            let picture = try #require(pictures.first)
            #expect(picture["rows"]?.values.count == timeline.rows.count)
            let kinds = picture["rows"]?.values.map { $0["bars"]?.values.compactMap { $0.text("kind") } }
            #expect(kinds?.first == ["seen", "pinned"] && kinds?.dropFirst().first == ["coming", "pinned"])
            #expect(picture["rows"]?.values.first?["everybody"]?["x"] != nil)
            world.clock.advance(by: .seconds(staleness))
            let (later, same) = try await self.facts(world)
            #expect(PageValue.record(HostPage(later, same).content).text("lastWithout") == "gone")
        }
    }

    @Test("A pin that was missing in between counts from its second publication on")
    func interrupted() throws {
        let host = try ContentHost(
            name: World.host, keys: [ContentHost.Key(pin: Digest(of: [1]), state: .backup)])
        let other = try ContentHost(name: World.host, keys: [ContentHost.Key(pin: Digest(of: [2]))])
        func row(_ publications: [(Int64, ContentHost?)]) throws -> HostTimeline.Row? {
            let scene = AppSnapshot.Host(
                try CatalogHost(name: World.host), [], AnnouncedCertificates(chains: [], keys: []), [:], at: 1_000)
            return HostTimeline(
                scene,
                publications: publications.map { HostTimeline.Publication(published: $0, end: 9_000, pins: $1) },
                timing: PublicationTiming(staleness: .seconds(100))
            ).rows.first { $0.digest == Digest(of: [1]) }
        }
        #expect(try row([(10, host), (20, host)])?.pinned == 10...9_000)
        #expect(try row([(10, host), (20, other), (30, host)])?.pinned == 30...9_000)
        #expect(try row([(10, host), (20, nil), (30, host)])?.everybody == 130)
        #expect(try row([(10, host), (20, other)]) == nil)
        #expect(try row([(10, host)])?.note == "backup key")
    }

    @Test("Each certificate of a chain says which pins it has, and an address with a strange one that it has none")
    func pins() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            try await world.approve(id)
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.see(stranger, at: "192.0.2.66", from: ["here"])
            let (facts, host) = try await facts(world)
            let page = PageValue.record(HostPage(facts, host).content)
            let pinned = page["chains"]?.values.compactMap { $0["certificates"]?.values.first?.text("pinned") } ?? []
            #expect(pinned.contains { $0.hasPrefix("certificate, active leaf key") } && pinned.contains("no pin"))
            let html = try await PageDesk(world).html("/apps/bank")
            #expect(html.contains("class=\"bad\">no pin</td>"))
            #expect(html.contains("certificate, active leaf key"))
        }
    }

    @Test("Only what a certificate has at its place in the chain matches")
    func matches() async throws {
        try await World.run { world in
            let der = world.shown.der
            let key = Digest(of: try world.shown.subjectPublicKeyInfo)
            func words(_ role: ContentHost.Key.Role, _ depth: Int64, at place: Int) throws -> [String] {
                let certificate = try ContentHost.Certificate(
                    fingerprint: Digest(of: der), depth: depth, expires: world.now)
                let host = try ContentHost(
                    name: World.host, certificates: [certificate], keys: [ContentHost.Key(pin: key, role: role)])
                return PinMatch(der, atDepth: place, host).words
            }
            #expect(try words(.leaf, 0, at: 0) == ["certificate", "active leaf key"])
            #expect(try words(.issuer, 1, at: 0).isEmpty)
            #expect(try words(.issuer, 1, at: 1) == ["certificate", "active issuer key"])
            #expect(PinMatch(der, atDepth: 0, nil).words.isEmpty)
        }
    }

    @Test("Times outside a picture stand at its edge, and its ticks are few")
    func scale() {
        let scale = ChartScale(1_000...2_000, left: 100, right: 300)
        #expect(scale.x(1_000) == 100 && scale.x(1_500) == 200 && scale.x(2_000) == 300)
        #expect(scale.x(.min + 5_000) == 100 && scale.x(.max) == 300)
        #expect(scale.bar(0...900) == nil && scale.bar(2_500...3_000) == nil)
        #expect(scale.bar(1_500...9_000).map { $0.x == 200 && $0.width == 100 } == true)
        for days in [1, 3, 7, 30, 120, 520, 4_000] as [Int64] {
            let scale = ChartScale(Story.now...Story.now + days * 86_400)
            #expect((1...16).contains(scale.ticks.count), "\(days)")
            #expect(scale.ticks.allSatisfy { (scale.left...scale.right).contains($0.x) })
            let narrow = ChartScale(scale.range, in: .narrow)
            #expect((1...4).contains(narrow.ticks.count), "\(days)")
            // Words of sixty units stay inside.
            for value in narrow.tickValues(bottom: 0).values {
                guard case .number(let x)? = value["x"], let anchor = value.text("anchor") else {
                    Issue.record("no place")
                    continue
                }
                let begin = anchor == "start" ? x : anchor == "end" ? x - 60 : x - 30
                #expect(begin >= 0 && begin + 60 <= narrow.form.width, "\(days): \(x) \(anchor)")
            }
        }
    }
}
