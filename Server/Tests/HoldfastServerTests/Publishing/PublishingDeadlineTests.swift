import Foundation
import Holdfast
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

/// Approvers on holiday get an alert before the last day on which a publication still reaches all clients.
@Suite("The last safe day")
struct PublishingDeadlineTests {
    private static let day: Int64 = 86_400

    private func alarms(_ world: World) async throws -> [AuditEntry] {
        try await world.catalog.audit(after: -1, limit: 1_000).map { try AuditEntry($0) }.filter { $0.event == .alarm }
    }

    @Test(
        "Two weeks before the last safe day there is one alarm, which names it and who waits, until something is published"
    )
    func certificate() async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            // Its successor will not be installed after all.
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let end = Int64(try #require(world.shown.notAfter).timeIntervalSince1970) + 1
            let lastSafe = end - AppSettings.defaultStaleness - Self.day
            try await world.pass(lastSafe - 14 * Self.day - 1 - world.now)
            #expect(try await world.publisher.remind(of: world.app) == nil)
            #expect(try await world.publisher.standing(of: world.app).isPressing == false)

            try await world.pass(1)
            let deadline = try #require(try await world.publisher.deadline(of: world.app))
            #expect(deadline.lockout == end && deadline.lastSafe == lastSafe, "\(deadline)")
            #expect(deadline.alarm == world.now && deadline.words.contains(World.host), "\(deadline)")
            #expect(try await world.publisher.standing(of: world.app).isPressing)
            let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: end, on: world.catalogHost, of: world.app, by: "operator")
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            let first = try #require(try await world.publisher.remind(of: world.app))
            #expect(first.contains("publish until \(ClockGuard.text(lastSafe))"), "\(first)")
            #expect(first.contains("change \(change) waits for approvals"), "\(first)")
            let once = try await alarms(world)
            #expect(once.count == 1 && once[0].facts["words"]?.contains("publish until") == true)

            // No approver is there, and the change lapses: the alert stays, and is not written again.
            try await world.pass(Change.span + 1)
            let second = try #require(try await world.publisher.remind(of: world.app))
            #expect(!second.contains("waits for approvals"), "\(second)")
            #expect(try await alarms(world).count == 1)
            await expectError(.outOfTurn) { try await world.publisher.publish(change) }
            #expect(try await world.catalog.change(change).ended == .lapsed)

            // On the last safe day itself all clients are still reached, whatever they hold.
            try await world.pass(lastSafe - world.now)
            let store = try await world.certStore()
            _ = try await store.update(mode: .forced)
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            #expect(try await world.publisher.remind(of: world.app) == nil)
            #expect(try await world.publisher.deadline(of: world.app) == nil)
            try await world.pass(AppSettings.defaultStaleness, showing: spare)
            #expect(try world.letsIn(world.shown, store.policy(for: World.host)))
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(spare, store.policy(for: World.host)))
        }
    }

    @Test("The end of what may be signed is a last safe day as well, and days of the canary come off")
    func content() async throws {
        try await World.run(canary: 2 * Self.day) { world in
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let lifetime = 17 * Self.day
            let published = world.now
            let content = try await world.draft {
                $0.formats = World.fewFormats
                $0.lifetime = lifetime
            }
            try await world.publish(content, forcing: [.canary, .lint])
            let deadline = try #require(try await world.publisher.deadline(of: world.app))
            #expect(deadline.lockout == published + lifetime + 1, "\(deadline)")
            #expect(deadline.lastSafe == deadline.lockout - AppSettings.defaultStaleness - 2 * Self.day)
            #expect(try await world.publisher.remind(of: world.app) != nil)
            try await world.publish(forcing: [.canary, .lint])
            #expect(try await world.publisher.deadline(of: world.app) == nil)
        }
    }

    @Test("Whoever renews twice a week is told a third of a certificate's life before, and not every day")
    func shortLives() async throws {
        try await World.run { world in
            let settings = try AppSettings(staleness: Self.day, canary: 0, anchors: [world.root.root], builds: [])
            try await world.catalog.set(settings, of: world.app, by: "operator")
            let short = try [0, 0].map { _ in
                try world.root.leaf(names: [.dns(World.host)]) {
                    $0.notBefore = .hours(0); $0.notAfter = .days(6)
                }
            }
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            for (index, certificate) in short.enumerated() {
                try await world.catalog.announce(
                    CertificateChain(certificate.chain), from: world.now + Int64(index) * 2 * Self.day,
                    on: world.catalogHost,
                    of: world.app, by: "operator")
            }
            try await world.see(short[0])
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let lastSafe = world.now + 5 * Self.day + 1
            try await world.pass(3 * Self.day, showing: short[0])
            #expect(try await world.publisher.remind(of: world.app) == nil)
            try await world.pass(1, showing: short[0])
            let deadline = try #require(try await world.publisher.deadline(of: world.app))
            #expect(deadline.lastSafe == lastSafe && deadline.alarm == lastSafe - 2 * Self.day, "\(deadline)")
            #expect(try await world.publisher.remind(of: world.app) != nil)
        }
    }

    @Test("serve says so in its log, and status ends with 1")
    func served() async throws {
        try await ServeSite.run { site in
            let settings = try AppSettings(
                staleness: 21 * Self.day, canary: 0, anchors: [site.root.root], builds: [])
            try await site.open.catalog.set(settings, of: site.app, by: "test")
            try await site.publish(until: 35)
            let server = try await ServingProcess.start(site)
            try await server.says("publish until ")
            #expect(await server.stop() == 0)
            let status = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            #expect(status.status == 1 && status.output.contains("ALARM: publish until "), "\(status.output)")
        }
    }
}
