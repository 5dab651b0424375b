import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("How an app stands")
struct StandingTests {
    private static let day: Int64 = 86_400

    @Test(
        "One word, one meaning: from when on a client is refused, and until when a publication reaches all before that")
    func ends() async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let content = try #require(try await world.publisher.published(world.app))
            // While hosts show what is pinned, clients are refused when documents end.
            let first = try await world.publisher.standing(of: world.app)
            #expect(first.refusedFrom == content.end + 1 && first.deadline == nil)
            // The host has nothing to show when its certificate has ended.
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let end = Int64(try #require(world.shown.notAfter).timeIntervalSince1970) + 1
            // It is far away, so nothing needs people yet; the time is right all the same.
            try await world.pass(end - 40 * Self.day - world.now)
            let early = try await world.publisher.standing(of: world.app)
            #expect(early.refusedFrom == end && early.deadline == nil, "\(early.refusedFrom as Any)")
            try await world.pass(20 * Self.day)
            let standing = try await world.publisher.standing(of: world.app)
            #expect(standing.refusedFrom == end, "\(standing.refusedFrom as Any)")
            let deadline = try #require(standing.deadline)
            #expect(deadline.advice(at: deadline.lastSafe).hasPrefix("publish until "))
            #expect(deadline.advice(at: deadline.lastSafe + 1).hasPrefix("publish now: "))
            // The canary has it before all others, and a client that asked right before asks again after the staleness.
            #expect(standing.deadline?.lastSafe == end - Self.day - AppSettings.defaultStaleness)
            // A client that asks until then gets in, and from then on none does.
            let store = try await world.certStore()
            _ = try await store.update(mode: .forced)
            try await world.pass(end - 1 - world.now)
            #expect(try world.letsIn(world.shown, store.policy(for: World.host)))
            try await world.pass(1)
            #expect(try !world.letsIn(world.shown, store.policy(for: World.host)))
        }
    }

    @Test("A healthy server says that clients get in, forty days after its publication, and right after another one")
    func healthy() async throws {
        try await World.run { world in
            try await world.publish()
            try await world.pass(40 * Self.day)
            let late = try await world.publisher.standing(of: world.app)
            #expect(late.verdict == .in && late.isGood, "\(late.alerts(at: world.now))")
            try await world.publish()
            try await world.pass(3_600)
            let after = try await world.publisher.standing(of: world.app)
            #expect(after.verdict == .in && after.isGood, "\(after.alerts(at: world.now))")
        }
    }

    @Test("The first lock-out is right in JSON as well, far beyond the staleness and two weeks")
    func firstLockout() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            let end = Int64(try #require(world.shown.notAfter).timeIntervalSince1970) + 1
            let standing = try await world.publisher.standing(of: world.app)
            #expect(standing.deadline == nil && end - world.now > AppSettings.defaultStaleness + 60 * Self.day)
            #expect(AdministrationView.standing(standing)["refusedFrom"] == AdministrationView.time(end))
            #expect(standing.refusalWords(at: world.now)?.hasSuffix(ClockGuard.text(end)) == true)
        }
    }

    @Test(
        "A host that renews with the same key raises no alert where clients pin keys",
        arguments: [ContentFormat.Kind.repository, .pinFile])
    func sameKey(_ kind: ContentFormat.Kind) async throws {
        try await World.run { world in
            let shop = try await Shop([kind], on: 443, in: world)
            let first = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(30) }
            try await world.see(first, of: shop.app, on: shop.host)
            try await shop.announce(first.chain, in: 0)
            try await shop.publish()
            _ = try await shop.fleet()
            try await world.catalog.withdrawNext(on: shop.host, of: shop.app, by: "operator")
            func good() async throws {
                let standing = try await world.publisher.standing(of: shop.app)
                #expect(standing.isGood, "\(standing.alerts(at: world.now))")
                #expect(try await world.publisher.remind(of: shop.app) == nil)
            }
            func pass(_ days: Int64, _ certificate: TestCertificate) async throws {
                world.clock.advance(by: .seconds(days * Self.day))
                try await world.see(certificate, of: shop.app, on: shop.host)
            }
            try await pass(20, first)
            try await good()
            let second = try world.root.renew(first)
            try await pass(5, second)
            try await good()
            let end = Int64(try #require(second.notAfter).timeIntervalSince1970)
            try await pass((end - world.now) / Self.day - 5, second)
            try await good()
        }
    }
}
