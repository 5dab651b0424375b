import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("Clients with the documents of a canary", .timeLimit(.minutes(10)))
struct CanaryProbeTests {
    private static let list = "lists/bank-canary.json"
    private static let day: Int64 = 86_400

    /// A world where the canary has a change, and all other clients what was published before.
    private func withCanary(
        _ formats: [ContentFormat] = World.fewFormats, _ body: (World, RandomID) async throws -> Void
    ) async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = formats }, forcing: [.canary])
            let change = try await world.approved(formats).change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            try await body(world, change)
        }
    }

    private func probes(_ world: World) throws -> CanaryProbes {
        try #require(world.catalog.ledger.canaries[world.app]).probes
    }

    private func metrics(_ world: World) -> String {
        MetricsText(families: MetricsText.families(of: world.catalog.ledger, isReady: true, at: world.now)).text
    }

    @Test("Time alone passes no canary: it counts as far as clients of every format were seen to get in")
    func timeAlone() async throws {
        try await withCanary(World.formats) { world, change in
            try await world.pass(Self.day + 1)
            _ = try await world.publisher.renew()
            try await world.approve(change)
            let error = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(
                error?.found.contains("Its clients have been able to connect for 0 s of 86400 s") == true,
                "\(error as Any)")
            #expect(try await world.publisher.rehearse(change).refusal?.gate == .canary)
            // A pause of more than an hour between probes does not count either.
            try await world.followCanary(for: Self.day / 2)
            try await world.pass(CanaryProbes.maximumPause + 1)
            try await world.followCanary(for: Self.day / 2 + CanaryProbes.maximumPause)
            #expect(try probes(world).followed == Self.day)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            _ = try await world.publisher.renew()
            try await world.everybodyFollows()
        }
    }

    @Test("A client that is refused holds the canary: who, where and why, and its time begins anew once all get in")
    func refused() async throws {
        try await withCanary { world, change in
            try await world.followCanary(for: Self.day / 2)
            // One of several addresses presents an unknown certificate.
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.see(stranger, at: "192.0.2.2")
            let problems = await world.publisher.probeCanaries()
            for client in [
                "CertStore apps with the list \(Self.list)", "trust-server apps with trust/gcx-canary.json.signed",
            ] {
                let words = "\(client) refuse api.example.com:443 at 192.0.2.2: pinMismatch"
                #expect(problems.contains { $0.contains(words) }, "\(problems)")
            }
            #expect(problems.allSatisfy { !$0.contains("192.0.2.1") }, "\(problems)")
            let held = try probes(world)
            #expect(held.followed == 0 && held.heldSince == world.now && held.refusals.count == problems.count)
            // It is in the audit, once, and people find it where they look.
            let head = world.catalog.ledger.chain.head
            _ = await world.publisher.probeCanaries()
            #expect(world.catalog.ledger.chain.head == head)
            let canary = try #require(try await world.publisher.standing(of: world.app).canary)
            #expect(canary.refusals == held.refusals && canary.followed == 0 && canary.heldSince == world.now)
            let since = ClockGuard.text(world.now)
            #expect(canary.lines.contains("HELD since \(since): clients refuse what the canary has"))
            #expect(canary.lines.contains("HELD: \(held.refusals[0])"), "\(canary.lines)")
            #expect(metrics(world).contains(#"holdfast_canary_held{app="bank"} 1"#))

            try await world.pass(CanaryProbes.maximumPause + 1)
            try await world.followCanary(for: Self.day / 2)
            #expect(try probes(world).heldSince == nil)
            #expect(metrics(world).contains(#"holdfast_canary_held{app="bank"} 0"#))
            try await world.approve(change)
            let error = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(error?.found.contains("able to connect for 39600 s of 86400 s") == true, "\(error as Any)")
            try await world.followCanary(for: Self.day / 2 + CanaryProbes.maximumPause)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            _ = try await world.publisher.renew()
            try await world.everybodyFollows()
        }
    }

    @Test("What clients do not take instead of the canary's document holds it, and only approvers let the change pass")
    func damagedDocument() async throws {
        try await withCanary { world, change in
            let file = world.publisher.folder.url.appending(path: Self.list)
            try Data(#"{"fingerprints":[{"name":"api.example.com"}]}"#.utf8).write(to: file)
            let words = "CertStore apps with the list \(Self.list) refuse it: invalidData"
            for _ in 0..<24 {
                try await world.pass(3_600)
                _ = try await world.publisher.renew()
                #expect(await world.publisher.probeCanaries().contains { $0.contains(words) })
            }
            try await world.approve(change)
            let error = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(error?.found.contains("the canary bank-canary is held: \(words)") == true, "\(error as Any)")
            // Force is asked for in a change, and approved as any other.
            let content = try await world.catalog.change(change).content
            let forced = try await world.propose(content, forcing: [.canary])
            #expect(forced.report.isPassed, "\(forced.report)")
            await expectError(.notApproved) { try await world.publisher.publish(forced.change) }
            try await world.approve(forced.change, by: [.alice])
            await expectError(.notApproved) { try await world.publisher.publish(forced.change) }
            try await world.approve(forced.change, by: [.bob])
            #expect(try await world.publisher.publish(forced.change) == .published(generation: 2))
            try await world.everybodyFollows()
        }
    }

    @Test("What cannot be downloaded holds the canary only until it can, and its time does not count meanwhile")
    func unreachable() async throws {
        try await withCanary { world, change in
            try await world.followCanary(for: Self.day / 2)
            let file = world.publisher.folder.url.appending(path: Self.list)
            let bytes = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            try await world.pass(Self.day / 2)
            _ = try await world.publisher.renew()
            let problems = await world.publisher.probeCanaries()
            #expect(
                problems.count == 1
                    && problems[0].contains(
                        "whether CertStore apps with the list \(Self.list) can connect: networkError"),
                "\(problems)")
            #expect(try probes(world).refusals == [] && probes(world).followed == Self.day / 2)
            // The document from before is accepted, and is no evidence about the change.
            try Data(contentsOf: world.publisher.folder.url.appending(path: "lists/bank.json")).write(to: file)
            let older = await world.publisher.probeCanaries()
            #expect(
                older.count == 1 && older[0].contains("the address has another document than the canary"), "\(older)")
            #expect(try probes(world).followed == Self.day / 2)
            try await world.approve(change)
            let error = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(
                error?.found.contains("is held until that is known: whether CertStore apps") == true, "\(error as Any)")
            try bytes.write(to: file)
            try await world.followCanary(for: Self.day / 2 + 3_600)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }

    @Test("Over sockets: a host that listens, the watcher that looks, the public listener, and CertStore in both modes")
    func sockets() async throws {
        try await World.run { world in
            try await withLoopbackTLSServer(serving: world.shown) { server in
                let shop = try await Shop([.list, .challenge, .trustServer], on: server.port, in: world)
                try await shop.announce(world.shown.chain, in: 0)
                _ = try await shop.look()
                try await shop.publish()
                let settings = try await world.catalog.app(shop.app).settings
                try await world.catalog.set(
                    AppSettings(
                        staleness: settings.staleness, canary: 3_600, anchors: settings.anchors, builds: []),
                    of: shop.app, by: "operator")
                let site = try ServingSite()
                site.time.withLock { $0 = world.now }
                try await site.listening { port in
                    try await world.catalog.set(
                        FolderAddress("http://127.0.0.1:\(port)"), of: shop.app, by: "operator")
                    let publisher = Publisher(
                        world.catalog, folder: world.publisher.folder, secret: World.secret(), live: site.live)
                    let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
                    try await shop.announce(next.chain, in: 60 * Self.day)
                    let content = try await world.catalog.draft(of: shop.app, Catalog.DraftOptions())
                    let change = try await world.propose(content).change
                    try await world.approve(change)
                    #expect(try await publisher.publish(change) == .canary(until: world.now + 3_600))
                    world.clock.advance(by: .seconds(2_700))
                    _ = try await publisher.renew()
                    _ = try await shop.look()
                    #expect(await publisher.probeCanaries() == [])
                    #expect(world.catalog.ledger.canaries[shop.app]?.probes.followed == 2_700)
                    world.clock.advance(by: .seconds(900))
                    _ = try await shop.look()
                    _ = try await publisher.renew()
                    try await world.approve(change)
                    #expect(try await publisher.publish(change) == .published(generation: 2))
                    let delivery = await publisher.readBack()
                    #expect(delivery.problems == [], "\(delivery)")
                    #expect(delivery.confirmed.contains("http://127.0.0.1:\(port): lists/shop.json"), "\(delivery)")
                    #expect(try await world.publisher.follow() == [])
                    var fleet = try await shop.fleet()
                    try await fleet.install(askingEvery: Self.day)
                    for certificate in [world.shown, next] {
                        #expect(try fleet.refusals(of: certificate.chain) == [])
                    }
                }
            }
        }
    }
}
