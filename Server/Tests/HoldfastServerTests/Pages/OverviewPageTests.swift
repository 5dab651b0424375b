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

@Suite("The overview", .timeLimit(.minutes(5)))
struct OverviewPageTests {
    /// The needs on a page that was never made before.
    private func needs(_ world: World) async throws -> [OverviewNeed] {
        try await PageDesk(world).overview().needs
    }

    @Test(
        "An app that is published, seen and has backups is quiet, until status alerts that something has to be published"
    )
    func quiet() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            try await world.approve(id)
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            #expect(try await needs(world).isEmpty)
            #expect(try await PageDesk(world).html("/").contains("No action is needed now."))
            // Clients accept what the host announced until its content ends.
            let end = try #require(try await world.publisher.published(world.app)).end
            let alert = end + 1 - AppSettings.defaultStaleness - 14 * 86_400
            try await world.pass(alert - world.now - 1, showing: world.announced)
            #expect(try await !needs(world).contains { $0.kind == .end })
            #expect(try await world.publisher.standing(of: world.app).isGood)
            try await world.pass(1, showing: world.announced)
            let need = try #require(try await needs(world).first { $0.kind == .end })
            #expect(need.address == "/apps/bank" && need.words.contains("publish until "))
            #expect(try await !world.publisher.standing(of: world.app).isGood)
        }
    }

    @Test("A change needs people from its proposal to its publication; an emergency stands before everything else")
    func changes() async throws {
        try await World.run { world in
            let id = try await world.propose().change
            let proposed = try #require(try await needs(world).first { $0.kind == .change })
            #expect(proposed.words.contains("waits for approvals") && proposed.title == "a test")
            #expect(proposed.address == "/apps/bank/changes/\(id)")
            try await world.approve(id)
            #expect(try await needs(world).contains { $0.words.contains("waits to be published") })
            let urgent = try await world.propose(forcing: [.canary]).change
            let first = try #require(try await needs(world).first)
            #expect(first.kind == .emergency && first.address.hasSuffix("\(urgent)"))
            _ = try await world.publisher.publish(id)
            try await world.everybodyFollows(isThorough: false)
            #expect(try await !needs(world).contains { $0.kind == .change || $0.kind == .emergency })
        }
    }

    @Test("An alarm stays until its key is published or announced")
    func alarms() async throws {
        try await World.run { world in
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            let key = Digest(of: try stranger.subjectPublicKeyInfo)
            try await world.catalog.alarm(about: key, on: world.catalogHost, of: world.app, words: "seen")
            let need = try #require(try await needs(world).first { $0.kind == .alarm })
            #expect(need.words.contains("\(key)") && need.address == "/apps/bank/hosts/\(World.host)")
            try await world.catalog.announce(
                CertificateChain(stranger.chain), from: world.now, on: world.catalogHost, of: world.app, by: "owner")
            #expect(try await !needs(world).contains { $0.kind == .alarm })
        }
    }

    @Test("A host that nobody has seen for an hour is named, and one that nobody could read")
    func unseen() async throws {
        try await World.run { world in
            #expect(try await !needs(world).contains { $0.kind == .unseen })
            world.clock.advance(by: .seconds(Vantage.lifetime + 1))
            #expect(try await needs(world).first { $0.kind == .unseen }?.words.contains("60 minutes ago") == true)
            let failure = Observation(
                vantage: "here", address: "192.0.2.1", chain: nil, failure: "no answer", firstSeen: world.now,
                lastSeen: world.now)
            try await world.catalog.note(
                [(host: world.catalogHost, seen: [failure])], from: "here", of: world.app, by: "test")
            #expect(try await needs(world).first { $0.kind == .unseen }?.words.contains("no answer") == true)
            try await world.see(world.shown)
            #expect(try await !needs(world).contains { $0.kind == .unseen })
            try await world.catalog.set(CatalogHost(name: "new.example.com"), of: world.app, by: "operator")
            #expect(try await needs(world).first { $0.kind == .unseen }?.words == "It was never probed.")
        }
    }

    @Test("Failures that clients report are said as hearsay")
    func reports() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            try desk.count([ReportDesk.pinFailure(machine.chain, result: 1, version: "7")])
            _ = try await desk.rows()
            let need = try #require(try await needs(world).first { $0.kind == .failures })
            #expect(need.address == "/apps/bank/reports" && need.words.contains("As far as reports can be believed"))
        }
    }

    @Test("An app needs somebody once all but one of the certificates that are published for a host have ended")
    func backupsOnPage() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            func missing() async throws -> [OverviewNeed] { try await needs(world).filter { $0.kind == .backup } }
            #expect(try await missing().isEmpty)
            try await world.pass(91 * 86_400)
            let need = try #require(try await missing().first)
            #expect(need.words.hasPrefix("\(World.host):443 has no backup: ") && need.words.hasSuffix("at once."))
            #expect(try await missing().count == 1 && need.address == "/apps/bank" && need.title == "bank")
        }
    }

    @Test("A published host that trusts one certificate alone has no backup")
    func backups() throws {
        let certificates = try (1...2).map {
            try ContentHost.Certificate(fingerprint: Digest(of: [UInt8($0)]), expires: Story.now + Int64($0) * 100)
        }
        let app = try AppName("bank")
        func missing(_ kind: ContentFormat.Kind, _ keys: [ContentHost.Key] = [], at now: Int64 = Story.now) throws
            -> [String]
        {
            let host = try ContentHost(name: World.host, certificates: certificates, keys: keys)
            let content = try Content(
                app: app, hosts: [host], formats: [ContentFormat(kind, refresh: 3_600)], end: Story.now + World.month)
            return content.missingBackups(at: now).map(\.words)
        }
        #expect(try missing(.list).isEmpty)
        #expect(try missing(.list, at: Story.now + 101).count == 1, "one has expired")
        #expect(try missing(.pinFile).count == 1)
        let keys = [ContentHost.Key(pin: Digest(of: [1])), ContentHost.Key(pin: Digest(of: [2]), state: .backup)]
        #expect(try missing(.pinFile, keys).isEmpty)
    }
}
