import Foundation
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerImport
@testable import ServerModel

/// The rules in `docs/server/backup.md` for apps whose server is gone.
@Suite("When all of the server is gone", .timeLimit(.minutes(5)))
struct GoneServerTests {
    @Test("Apps go on with what they have: those of a trust server for 25 hours, all others until the content ends")
    func gone() async throws {
        try await World.run { world in
            let leaf = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
            try await withLoopbackTLSServer(serving: leaf) { server in
                let kinds: [ContentFormat.Kind] = [.list, .challenge, .trustServer, .repository]
                let shop = try await Shop(kinds, on: server.port, in: world)
                try await shop.announce(leaf.chain, in: 0)
                #expect(try await shop.verdicts() == [.known])
                try await shop.publish()
                var fleet = try await shop.fleet()
                try await fleet.install(askingEvery: 3_600)
                // From here on no server signs, publishes or answers.
                let (start, end) = (world.now, try #require(try await world.publisher.published(shop.app)).end)
                #expect(end - start > 100 * 86_400)
                let (nobody, trusting): (Set<String>, Set<String>) = ([], ["certificates", "keys"])
                for (time, expected) in [
                    (start, nobody), (start + 90_000, nobody), (start + 90_001, trusting), (end, trusting),
                    (end + 1, trusting.union(["list", "challenge", "repository"])),
                ] as [(Int64, Set<String>)] {
                    world.clock.advance(by: .seconds(time - world.now))
                    let refusals = try fleet.refusals(of: leaf.chain)
                    let names = Set(refusals.map { String($0.prefix { $0 != "," }) })
                    #expect(names == expected, "after \(time - start) s: \(refusals)")
                }
            }
        }
    }
}
