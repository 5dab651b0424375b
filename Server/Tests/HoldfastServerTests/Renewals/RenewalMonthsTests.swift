import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Renewals over months", .timeLimit(.minutes(5)))
struct RenewalMonthsTests {
    private static let day: Int64 = 86_400
    /// How many times as long a night lasts.
    private static let length = mutants > 10_000 ? 2 : 1
    private static let rhythms = [
        RenewalCourse.Rhythm(days: 90, staleness: 21, renewals: 2 * length),
        RenewalCourse.Rhythm(days: 47, staleness: 7, renewals: 2 * length),
        RenewalCourse.Rhythm(days: 6, staleness: 1, renewals: 3 * length),
    ]

    @Test(
        "Certificates of any life are renewed, with the same key and with others, and no app of any format and age refuses",
        arguments: RenewalMonthsTests.rhythms)
    func months(_ rhythm: RenewalCourse.Rhythm) async throws {
        try await World.run { world in
            try await withLoopbackTLSServer(serving: world.shown) { server in
                var course = try await RenewalCourse(rhythm, in: world, server)
                try await course.run()
                #expect(course.installations >= rhythm.renewals)
                // It is the gate that keeps apps which have not asked yet from meeting a certificate that they do not know.
                #expect(course.refusedEarly > 0)
            }
        }
    }

    @Test(
        "A server that was forgotten on its old certificate is named, keeps its pin, and holds up nobody")
    func forgotten() async throws {
        try await World.run { world in
            let first = try await LoopbackTLSServer.start(serving: world.shown)
            let second = try await LoopbackTLSServer.start(
                serving: world.shown, options: .init(address: "127.0.0.2", port: first.port))
            let shop = try await Shop([.list], on: first.port, in: world)
            try await shop.announce(world.shown.chain, in: 0)
            try await shop.announce(world.announced.chain, in: World.month)
            #expect(try await shop.verdicts(at: "127.0.0.1", "127.0.0.2") == [.known, .known])
            try await shop.publish()

            world.clock.advance(by: .seconds(World.month))
            try first.serve(world.announced)
            #expect(try await shop.verdicts(at: "127.0.0.1", "127.0.0.2") == [.known, .known])
            let content = try await world.catalog.draft(
                of: shop.app,
                Catalog.DraftOptions(
                    removed: [Digest(of: world.shown.der), Digest(of: try world.shown.subjectPublicKeyInfo)]))
            let refusal = try #require(try await world.propose(content).report.refusal)
            #expect(refusal.gate == .lint, "\(refusal)")
            #expect(refusal.refusals.contains { $0.contains("127.0.0.2:\(first.port)") }, "\(refusal)")
            #expect(!refusal.refusals.contains { $0.contains("127.0.0.1:\(first.port)") }, "\(refusal)")

            // Its certificate ends: that is no alarm about a key, and no change can help, so none is refused for it.
            world.clock.advance(by: .seconds(60 * Self.day))
            #expect(try await shop.verdicts(at: "127.0.0.1", "127.0.0.2") == [.known, .invalid])
            #expect(world.catalog.ledger.alarms.isEmpty)
            let late = try await world.propose(world.catalog.draft(of: shop.app)).report
            #expect(late.refusal == nil, "\(late)")
            let standing = try await world.publisher.standing(of: shop.app)
            #expect(standing.losses == [] && !standing.isGood)
            let named = standing.expiredServers.joined()
            #expect(standing.expiredServers.count == 1 && named.contains("127.0.0.2:\(first.port)"), "\(named)")
            #expect(named.contains("this server was forgotten"), "\(named)")
            try second.serve(world.announced)
            #expect(try await shop.verdicts(at: "127.0.0.1", "127.0.0.2") == [.known, .known])
            #expect(try await world.publisher.standing(of: shop.app).isGood)
            await first.shutdown()
            await second.shutdown()
        }
    }
}
