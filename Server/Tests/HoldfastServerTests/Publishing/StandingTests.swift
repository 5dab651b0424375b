import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HoldfastServer

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
            #expect(early.verdict == .in && early.outlook?.verdict == .ending, "a healthy app is not ending")
            try await world.pass(20 * Self.day)
            let standing = try await world.publisher.standing(of: world.app)
            #expect(standing.refusedFrom == end, "\(standing.refusedFrom as Any)")
            let deadline = try #require(standing.deadline)
            #expect(deadline.advice(at: deadline.lastSafe).hasPrefix("publish until "))
            #expect(deadline.advice(at: deadline.lastSafe + 1).hasPrefix("publish now: "))
            // The canary has it before everybody, and who asked right before asks again after the staleness.
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
}
