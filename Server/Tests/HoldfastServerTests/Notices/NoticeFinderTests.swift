import Foundation
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("What people are told", .timeLimit(.minutes(5)))
struct NoticeFinderTests {
    private func find(_ finder: inout NoticeFinder, _ world: World) async throws -> [Notice] {
        try await finder.readStalenesses(in: world.catalog)
        try await finder.readReports(in: world.catalog, at: world.now)
        return finder.notices(world.catalog.ledger, world.publisher.live.current, at: world.now)
    }

    private func facts(_ notice: Notice) throws -> [String: String] {
        try #require(try JSONSerialization.jsonObject(with: Data(notice.bytes)) as? [String: String])
    }

    @Test("An open change is news until it ends, and is the same news after a restart")
    func changes() async throws {
        try await World.run { world in
            var finder = NoticeFinder(world.catalog.server)
            #expect(try await find(&finder, world).map(\.kind) == [.head])
            let proposal = try await world.propose()
            let found = try await find(&finder, world)
            let notice = try #require(found.first { $0.kind == .change })
            let facts = try facts(notice)
            #expect(facts["app"] == "bank" && facts["change"] == "\(proposal.change)", "\(facts)")
            #expect(facts["id"] == "\(notice.id)" && facts["server"] == "\(Story.server)")
            #expect(facts["until"] == ClockGuard.text(world.now + Change.span))
            #expect(!facts.values.contains { $0.contains("a test") }, "the reason is anybody's text: \(facts)")
            var another = NoticeFinder(world.catalog.server)
            #expect(try await find(&another, world).contains(notice))
            try await world.approve(proposal.change)
            #expect(try await find(&finder, world).contains(notice), "somebody has to publish it")
            try await world.publisher.publish(proposal.change)
            try await world.everybodyFollows(isThorough: false)
            #expect(try await !find(&finder, world).contains { $0.kind == .change })
            let late = try await world.propose()
            world.clock.advance(by: .seconds(Change.span + 1))
            let open = try await find(&finder, world).map { try self.facts($0)["change"] }
            #expect(!open.contains("\(late.change)"), "its time is over")
        }
    }

    @Test("An alarm or a reminder is news once for each key, and names no text of the host's")
    func alarms() async throws {
        try await World.run { world in
            var finder = NoticeFinder(world.catalog.server)
            let key = Digest(of: [1])
            try await world.catalog.alarm(about: key, on: world.catalogHost, of: world.app, words: "evil words")
            let notice = try #require(try await find(&finder, world).first)
            #expect(notice.kind == .alarm)
            let facts = try facts(notice)
            #expect(facts["host"] == "\(World.host):443" && facts["key"] == "\(key)" && facts["app"] == "bank")
            #expect(!facts.values.contains { $0.contains("evil") })
            try await world.catalog.remind(
                about: key, until: "soon", on: world.catalogHost, of: world.app, words: "evil words")
            let reminder = try #require(try await find(&finder, world).first { $0.kind == .reminder })
            #expect(try self.facts(reminder)["subject"] == "\(key)" && reminder.id != notice.id)
        }
    }

    @Test("What is published is news once it ends within the staleness, and a trust server's rounds never are")
    func ends() async throws {
        try await World.run { world in
            var finder = NoticeFinder(world.catalog.server)
            try await world.publish()
            try await world.publisher.refresh()
            let end = try #require(world.publisher.live.current.parts[world.app]?.end)
            let staleness = try await world.catalog.app(world.app).settings.staleness
            #expect(try await !find(&finder, world).contains { $0.kind == .end })
            world.clock.advance(by: .seconds(end - staleness - world.now - 1))
            #expect(try await !find(&finder, world).contains { $0.kind == .end })
            world.clock.advance(by: .seconds(1))
            let notice = try #require(try await find(&finder, world).first { $0.kind == .end })
            #expect(try facts(notice)["until"] == ClockGuard.text(end))
            #expect(try await find(&finder, world).filter { $0.kind == .end } == [notice], "one for an app")
        }
    }

    @Test("The end of the audit is news after something was published or signed, and not after other entries")
    func heads() async throws {
        try await World.run { world in
            var finder = NoticeFinder(world.catalog.server)
            func head() async throws -> String? {
                try facts(try #require(try await find(&finder, world).last { $0.kind == .head }))["count"]
            }
            try await world.publish()
            let first = try await head()
            #expect(first == "\(world.catalog.ledger.chain.head.count)")
            _ = try await world.propose()
            #expect(try await head() == first)
            world.clock.advance(by: .seconds(150))
            _ = try await world.publisher.renew()
            let second = try await head()
            #expect(second == "\(world.catalog.ledger.chain.head.count)" && second != first)
        }
    }

    @Test("While the clock cannot be believed, nothing is said about times")
    func clock() async throws {
        try await World.run { world in
            var finder = NoticeFinder(world.catalog.server)
            _ = try await world.propose()
            let notices = finder.notices(world.catalog.ledger, world.publisher.live.current, at: nil)
            #expect(notices.map(\.kind) == [.head])
        }
    }

    @Test("What clients report is news once for each host, however often it ends and begins, and has no text of theirs")
    func reports() async throws {
        try await World.run { world in
            var finder = NoticeFinder(world.catalog.server)
            let desk = try await ReportDesk(world)
            func pass(_ seconds: Int64) async throws -> [Notice] {
                _ = try await desk.rows()
                world.clock.advance(by: .seconds(seconds))
                return try await find(&finder, world).filter { $0.kind == .report }
            }
            #expect(try await pass(0).isEmpty)
            try desk.count((0..<300).map { _ in ReportDesk.networkError(more: #", "document-version": "evil""#) })
            #expect(try await pass(1).isEmpty, "they are read once a minute")
            let failures = try await pass(60)
            let facts = try failures.map(facts)
            #expect(facts.map { [$0["app"], $0["about"], $0["host"]] } == [["bank", "failures", "\(World.host):443"]])
            #expect(try await find(&finder, world).map(\.kind) == [.head, .report], "everything else comes before it")
            let machine = try TestAuthority.root(name: "Evil").leaf(names: [.dns(World.host)])
            try desk.count([ReportDesk.pinFailure(machine.chain)])
            let both = try await pass(60)
            let abouts = try both.map { try self.facts($0)["about"] }
            #expect(Set(abouts) == ["failures", "certificates"])
            let said = both.map { String(decoding: $0.bytes, as: UTF8.self).lowercased() }.joined()
            #expect(!said.contains("evil") && !said.contains("\(Digest(of: machine.der))"), "\(said)")
            // Forged successes end it and forged failures begin it again, without another notice.
            for kind in ["ok", "tls.cert.pinned_key_not_in_cert_chain"] {
                let more = #", "document-version": "evil""#
                try desk.count((0..<300).map { _ in ReportDesk.networkError(kind, fraction: "0.0001", more: more) })
                #expect(try await pass(60) == both)
            }
            var another = NoticeFinder(world.catalog.server)
            #expect(
                try await find(&another, world).filter { $0.kind == .report } == both, "a restart tells nobody again")
            #expect(try await pass(2 * 86_400).isEmpty, "it is over")
        }
    }

    @Test("However many hosts are reported, the news of reports are few and the last")
    func manyReports() async throws {
        try await World.run { world in
            for number in 0..<100 {
                try await world.catalog.set(CatalogHost(name: "h\(number).example.com"), of: world.app, by: "test")
            }
            let desk = try await ReportDesk(world)
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            for number in 0..<100 {
                let body = ReportDesk.pinFailure(machine.chain, host: "h\(number).example.com")
                try desk.count([body], from: try ReportDesk.source(number))
            }
            _ = try await desk.rows()
            var finder = NoticeFinder(world.catalog.server)
            let kinds = try await find(&finder, world).map(\.kind)
            #expect(kinds.first == .head && kinds.count == 33, "\(kinds.count)")
        }
    }
}
