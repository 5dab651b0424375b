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

@Suite("The outlook of a change that a canary has first", .timeLimit(.minutes(5)))
struct CanaryOutlookTests {
    private static let day: Int64 = 86_400
    private static let staleness = AppSettings.defaultStaleness

    /// A world where something is published, and where the owner announces what the host shows from a time on.
    private func withNext(
        in wait: Int64, _ body: (World, TestCertificate) async throws -> Void
    ) async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now + wait, on: world.catalogHost, of: world.app,
                by: "operator")
            try await body(world, next)
        }
    }

    private func draft(_ world: World) async throws -> Content {
        try await world.draft { $0.formats = World.fewFormats }
    }

    private func kept(_ world: World) -> String {
        "lists/bank.json, which others keep until \(ClockGuard.text(world.now + Self.day)),"
    }

    @Test("Those who have not asked go on for the staleness only once the canary's time is over, and are judged so")
    func stale() async throws {
        // Later than the staleness, and earlier than the canary's day and the staleness.
        try await withNext(in: Self.staleness + Self.day / 2) { world, next in
            let refusal = try #require(try await world.propose(draft(world)).report.refusal)
            #expect(refusal.gate == .outlook)
            let words = "CertStore apps with the list \(kept(world)) are locked out at api.example.com:443, next from"
            #expect(refusal.refusals.contains { $0.hasPrefix(words) }, "\(refusal)")
            // Without the canary, all clients get it in time.
            #expect(try await world.propose(draft(world), forcing: [.canary]).report.isPassed)
            // Real clients agree: one that asked right before the canary's day was over holds what it has for the staleness.
            let store = try await world.certStore()
            try await world.pass(Self.day - 1)
            _ = try await store.update(mode: .forced)
            try await world.pass(Self.staleness - Self.day / 2 + 1)
            #expect(try !world.letsIn(next, store.policy(for: World.host)))
        }
        try await withNext(in: Self.staleness + Self.day) { world, _ in
            let refusal = try await world.propose(draft(world)).report.refusal
            #expect(refusal?.gate == .canary)
        }
    }

    @Test("What is shown before the canary's time is over locks out everybody else, and not the canary")
    func before() async throws {
        try await withNext(in: Self.day / 2) { world, next in
            let proposal = try await world.propose(draft(world))
            let refusal = try #require(proposal.report.refusal)
            #expect(refusal.gate == .outlook)
            for client in [
                "CertStore apps with the list \(kept(world))", "trust-server apps that pin keys of trust/gcx",
            ] {
                #expect(refusal.refusals.contains { $0.hasPrefix(client) }, "\(refusal)")
            }
            #expect(!refusal.refusals.contains { $0.contains("canary.json") }, "\(refusal)")
            let names = proposal.outlook.documentNames
            #expect(names.contains("lists/bank-canary.json") && names.contains("lists/bank.json"), "\(names)")
            // The canary's clients get in with it at once.
            let forced = try await world.propose(draft(world), forcing: [.outlook]).change
            try await world.approve(forced)
            #expect(try await world.publisher.publish(forced).stage == .canary(until: world.now + Self.day))
            let store = try await world.certStore(path: "lists/bank-canary.json")
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(next, store.policy(for: World.host)))
            let other = try await world.certStore()
            _ = try await other.update(mode: .forced)
            #expect(try !world.letsIn(next, other.policy(for: World.host)))
        }
    }

    @Test("What clients lack already is no host that the change drops")
    func already() async throws {
        try await withNext(in: 1) { world, next in
            try await world.pass(60, showing: next)
            let refusal = try #require(try await world.propose(draft(world)).report.refusal)
            #expect(refusal.gate == .outlook && refusal.refusals.contains { $0.contains(kept(world)) }, "\(refusal)")
        }
    }

    @Test("Once the canary's time is over, everybody is judged as getting it now, and approvals still count")
    func after() async throws {
        try await withNext(in: 60 * Self.day) { world, _ in
            let change = try await world.propose(draft(world)).change
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            try await world.followCanary(for: Self.day)
            try await world.approve(change)
            #expect(try await world.publisher.rehearse(change).isPassed)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            try await world.everybodyFollows()
        }
    }
}
