import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Vouching for the clock")
struct ResumptionTests {
    @Test(
        "A clock that jumped ahead and was believed stops everything once it is mended, until a person vouches for it")
    func mended() async throws {
        try await World.run { world in
            try await world.publish()
            let (before, _) = try await world.approved(World.formats)
            let jump: Int64 = 5 * 86_400
            world.clock.advance(by: .seconds(jump))
            // All of this is dated some days ahead.
            try await world.see(world.shown)
            let future = try await world.propose().change
            let other = try await world.another(world.engine)
            _ = try await other.catalog.now()

            world.clock.advance(by: .seconds(60 - jump))
            #expect(world.catalog.signingTime == nil && world.catalog.clockProblem?.code == .clock)
            await expectError(.clock) { try await world.catalog.set(world.catalogHost, of: world.app, by: "test") }
            await expectError(.clock) { try await world.publisher.publish(before) }
            #expect(try await world.publisher.renew().signed == [])
            await expectError(.clock) { try await world.publisher.standing(of: world.app) }

            let resumption = try #require(try await world.catalog.resumeClock(by: "operator"))
            #expect(resumption.lapsed == [future] && resumption.now == world.now)
            #expect(resumption.signed == world.now + jump - 60)
            #expect(world.catalog.ledger.latestTime == world.now)
            let entry = try AuditEntry(
                try #require(
                    try await world.catalog.audit(after: world.catalog.ledger.chain.head.count - 2, limit: 1).first))
            #expect(entry.event == .resumed && entry.actor == "operator" && entry.facts["what"] == "clock")
            // The other process follows.
            _ = try await other.catalog.now()
            #expect(other.catalog.signingTime == world.now && world.catalog.signingTime == world.now)
            // No observation is dated in the future.
            #expect(
                try await world.catalog.observations(of: world.catalogHost, world.app).allSatisfy {
                    $0.lastSeen <= world.now
                })
            try await world.see(world.shown)
            #expect(try await world.catalog.change(future).ended == .lapsed)
            #expect(try await other.publish(before).stage == .published(generation: 2))
            #expect(try await world.publisher.renew().signed.isEmpty == false)
            #expect(try await world.catalog.resumeClock(by: "operator") == nil)
        }
    }

    @Test("While the clock is not believed, no challenge is answered, also not with what is left once it is mended")
    func challenges() async throws {
        try await World.run { world in
            try await world.publish()
            try await world.publisher.refresh()
            let snapshot = world.publisher.live.current
            #expect(snapshot.apps[world.app]?.key != nil && snapshot.apps[world.app]?.entries.isEmpty == false)
            world.clock.advance(by: .seconds(-400 * 86_400))
            try await world.publisher.refresh()
            let later = world.publisher.live.current
            #expect(later.apps[world.app]?.key == nil)
            #expect(later.documents.keys == snapshot.documents.keys)
        }
    }
}
