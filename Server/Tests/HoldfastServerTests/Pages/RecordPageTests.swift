import Foundation
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

@Suite("Reports and the audit on pages", .timeLimit(.minutes(5)))
struct RecordPageTests {
    private func count(
        _ hoursAgo: Int64, _ version: String, _ code: ClientReport.Code, _ scaled: Int64, count: Int64 = 1
    ) throws -> ReportCount {
        let kind = ReportCount.Kind(.everybody, code, .iOS, "1.0", version)
        var sums = ReportCount.Sums()
        (sums.count, sums.scaled) = (count, scaled)
        return ReportCount(
            key: ReportCount.Key(
                app: try AppName("bank"), hour: Story.now / 3_600 - hoursAgo, host: World.host, kind: kind),
            sums: sums)
    }

    @Test("Failures are added up by version and time; what has not failed only counts for the part")
    func history() throws {
        let counts = [
            try count(0, "7", .pins, 5), try count(0, "7", .chain, 2), try count(1, "7", .ok, 93),
            try count(23, "6", .expired, 1), try count(24, "6", .expired, 1_000), try count(2, "6", .candidate, 50),
            try count(3, "6", .other, 50), try count(4, "6", .pins, 0, count: 3),
        ]
        let day = FailureHistory(counts, over: .day, at: Story.now)
        #expect(day.versions.map(\.name) == ["7", "6"])
        let seven = try #require(day.versions.first)
        #expect(seven.failures.count == 24 && seven.failures.last == 7 && seven.failed == 7 && seven.all == 100)
        let six = try #require(day.versions.last)
        #expect(six.failures.first == 1 && six.failures[19] == 3 && six.failed == 4 && six.all == 4)
        let week = FailureHistory(counts, over: .week, at: Story.now)
        #expect(week.versions.first?.name == "6" && week.versions.first?.failed == 1_004)
        #expect(week.versions.first?.failures.count == 28)
        #expect(FailureHistory([], over: .month, at: Story.now).versions.isEmpty)
    }

    @Test("Versions that clients invent stand together, and huge numbers stop nothing")
    func inventions() throws {
        let counts =
            try (1...20).map { try count(1, "\($0)", .pins, Int64($0)) } + [
                try count(1, ClientReport.nothing, .pins, .max), try count(2, ClientReport.nothing, .pins, .max),
            ]
        let versions = FailureHistory(counts, over: .day, at: Story.now).versions
        #expect(versions.count == 9 && versions.first?.name == "20" && versions.last?.name == ClientReport.nothing)
        #expect(versions.last?.failed == .max && versions.last?.all == .max)
        let page = ReportsPage(
            app: try AppName("bank"), standing: nil, history: FailureHistory(counts, over: .day, at: Story.now),
            samples: [], now: Story.now)
        let content = PageValue.record(page.content)
        #expect(content["versions"]?.values.last?.text("name") == "other or unknown")
        let bars = content["pictures"]?.values.first?["rows"]?.values.last?["bars"]?.values ?? []
        #expect(bars.count == 2 && bars.allSatisfy { $0["height"] == .number(44) })
    }

    @Test("A sample's chain stands beside the pins that the client knew")
    func samples() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            try desk.count([ReportDesk.pinFailure(machine.chain, result: 1, version: "7")])
            _ = try await desk.rows()
            let page = PageValue.record(try await PageDesk(world).made("/apps/bank/reports?days=1").content)
            let sample = try #require(page["samples"]?.values.first)
            let key = Digest(of: try machine.subjectPublicKeyInfo)
            #expect(sample["chain"]?.values.first?.text("pin") == PageText.pin(key))
            #expect(sample["chain"]?.values.first?.text("match") == "is no pin")
            #expect(
                sample["pins"]?.values.first?.text("pin")?.contains("d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=")
                    == true)
            #expect(page["warnings"]?.values.count == 1)
        }
    }

    @Test("The audit is shown from its end, filtered by event and app, and goes on where a page ended")
    func audit() async throws {
        try await World.run { world in
            let catalog = world.catalog
            let all = try await catalog.auditPage(AuditFilter(), apps: catalog.apps)
            #expect(all.head == catalog.ledger.chain.head && all.rest == nil)
            #expect(all.entries.map(\.index) == Array((0..<all.head.count).reversed()))
            for number in 0..<150 {
                // One host gets an alert for a few keys only.
                try await catalog.alarm(
                    about: Digest(of: [UInt8(number)]), on: CatalogHost(name: "h\(number).example.com"), of: world.app,
                    words: "\(number)")
            }
            let first = try await catalog.auditPage(AuditFilter(event: .alarm), apps: catalog.apps)
            #expect(first.entries.count == AuditPage.maximumEntryCount && first.entries.first?.facts["words"] == "149")
            let rest = try #require(first.rest)
            let next = try await catalog.auditPage(AuditFilter(event: .alarm, before: rest), apps: catalog.apps)
            #expect(next.entries.count == 50 && next.entries.first?.facts["words"] == "49" && next.rest == nil)
            let other = try await catalog.auditPage(
                AuditFilter(event: .alarm, app: AppName("shop")), apps: catalog.apps)
            #expect(other.entries.isEmpty)
            let html = try await PageDesk(world).html("/audit?event=alarm&app=bank")
            #expect(
                html.contains("<option value=\"alarm\" selected>") && html.contains("<option value=\"bank\" selected>"))
            #expect(html.contains("/audit?event=alarm&amp;app=bank&amp;before=\(rest)"))
            #expect(html.contains("\(catalog.ledger.chain.head.digest)"))
        }
    }

    @Test("The app's page has each export as it is, to copy")
    func exports() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            try await world.approve(id)
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            let page = PageValue.record(try await PageDesk(world).made("/apps/bank").content)
            let stored = try await world.catalog.newestDocuments { _ in true }
            let file = try #require(stored.first { $0.path == "pins/bank.pins.json" })
            let export = try #require(page["exports"]?.values.first { $0.text("path") == file.path })
            #expect(export.text("text").map { Array($0.utf8) } == file.bytes)
            #expect(page["documents"]?.values.count == stored.count)
            #expect(page["keys"]?.values.compactMap { $0.text("purpose") } == ["fingerprints", "trust-server"])
        }
    }
}
