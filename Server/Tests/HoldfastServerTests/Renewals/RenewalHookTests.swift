import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// From an ACME client's renewal to apps that follow: certbot fetches, the script of `docs/server/operating.md` announces over HTTP,
/// people approve, the gate lets the script install, and nginx shows it. Only the server's clock is turned.
@Suite(
    "Renewal by an ACME client", .needs(.acmeHost),
    .timeLimit(.minutes(5)))
struct RenewalHookTests {
    private static let day: Int64 = 86_400

    /// A host with its app, which has published the first certificate, and a script that may announce.
    private func run(
        reusesKey: Bool, _ kinds: [ContentFormat.Kind], _ body: (ACMEHost, Shop) async throws -> Void
    ) async throws {
        let script = try Manual.procedures().block("run: announce-certificate").text
        let now = Int64(SystemWallClock().now.timeIntervalSince1970)
        try await ACMEHost.run(reusesKey: reusesKey) { acme in
            // A new certificate is valid by then.
            try await World.run(at: now + 3_600) { world in
                let shop = try await Shop(kinds, on: acme.web, in: world, trusting: acme.anchor)
                let token = try await world.token("renewals", .propose, app: shop.app)
                try await AdministrationSite.listening(for: world.publisher) { port in
                    try await acme.install(script, asking: port, with: token.secretText)
                    try await shop.announce(acme.installed(), in: 0)
                    #expect(try await shop.verdicts().allSatisfy { $0 == .known })
                    try await shop.publish()
                    try await body(acme, shop)
                }
            }
        }
    }

    /// Waits for nginx, which answers with the old files for a moment after a reload.
    private func waitUntilShown(_ leaf: [UInt8], _ shop: Shop) async throws {
        var shown: Set<[UInt8]?> = []
        for _ in 0..<500 where shown != [leaf] {
            let report = try await shop.look()
            #expect(report.alarms == [] && report.findings.allSatisfy { $0.verdict == .known }, "\(report)")
            shown = Set(report.findings.map(\.chain.first))
        }
        #expect(shown == [leaf])
    }

    @Test("A certificate with another key waits until apps of every format and age know it, and none of them refuses")
    func otherKey() async throws {
        try await run(reusesKey: false, [.list, .challenge, .trustServer, .repository]) { acme, shop in
            let world = shop.world
            var fleet = try await shop.fleet()
            try await fleet.install(askingEvery: AppSettings.defaultStaleness)
            try await acme.renew()
            let (old, next) = (try acme.installed(), try acme.fetched())
            #expect(old[0] != next[0])
            // The hook has announced it, and the gate has refused it.
            let announced = try await world.catalog.next(of: shop.host, shop.app)
            #expect(announced.chains.contains { $0.chain.certificates == next })
            let refused = try await acme.runScript()
            #expect(refused.contains("locked out") && refused.contains("notReady"), "\(refused)")
            try await shop.publish()

            for days in [3, 2, 1] {
                world.clock.advance(by: .seconds(days * Int(Self.day)))
                _ = try await world.publisher.renew()
                try await fleet.pass()
                try await fleet.install(askingEvery: AppSettings.defaultStaleness)
                let waiting = try await acme.runScript()
                #expect(waiting.contains("notReady"), "\(waiting)")
                try await waitUntilShown(old[0], shop)
                #expect(try fleet.refusals(of: old) == [])
                // Those of the first day do not know it yet.
                #expect(try !fleet.refusals(of: next).isEmpty)
            }
            world.clock.advance(by: .seconds(Self.day + 1))
            _ = try await world.publisher.renew()
            try await fleet.pass()
            _ = try await acme.runScript()
            #expect(try acme.installed() == next)
            try await waitUntilShown(next[0], shop)
            #expect(try fleet.refusals(of: next) == [])
            #expect(fleet.count == 16)
            // There is nothing left to do, and nothing is announced twice.
            #expect(try await acme.runScript().isEmpty)
            #expect(try await world.catalog.next(of: shop.host, shop.app).chains.count == 3)
        }
    }

    @Test(
        "A certificate with the same key is installed by the hook at once where apps pin keys, and none of them refuses"
    )
    func sameKey() async throws {
        try await run(reusesKey: true, [.repository]) { acme, shop in
            var fleet = try await shop.fleet()
            try await fleet.install(askingEvery: AppSettings.defaultStaleness)
            let old = try acme.installed()
            try await acme.renew()
            let next = try acme.fetched()
            #expect(next[0] != old[0])
            #expect(try acme.installed() == next)
            try await waitUntilShown(next[0], shop)
            #expect(try fleet.refusals(of: next) == [])
            #expect(shop.world.catalog.ledger.generation(of: shop.app) == 1)
        }
    }

    @Test("Once what is served has expired, the hook installs what no app knows yet, and exits with 5 to call people")
    func expired() async throws {
        try await run(reusesKey: false, [.list]) { acme, shop in
            let (world, old) = (shop.world, try acme.installed())
            _ = try await shop.fleet()
            try await acme.renew()
            #expect(try acme.installed() == old && acme.fetched() != old)
            world.clock.advance(by: .seconds(7_200))
            let expired = try world.root.leaf(names: [.dns(World.host)]) {
                $0.notBefore = .hours(-20)
                $0.notAfter = .hours(-1)
            }
            try await world.see(expired, of: shop.app, on: shop.host)
            let said = try await acme.runUrgentScript()
            #expect(said.contains("install now, and alert") && said.contains("installed now"), "\(said)")
            #expect(try acme.installed() == acme.fetched())
        }
    }
}
