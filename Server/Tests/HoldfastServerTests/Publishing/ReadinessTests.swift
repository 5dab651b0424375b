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
@testable import ServerWeb

/// Whether the next certificate may be installed, if waiting locks out all clients.
@Suite("Installation now, and an alert", .timeLimit(.minutes(5)))
struct ReadinessTests {
    private static let day: Int64 = 86_400

    /// Publishes with what is shown, and announces another certificate afterwards.
    private func run(
        lifetime: Int64 = 180, _ body: (World, TestCertificate) async throws -> Void
    ) async throws {
        try await World.run { world in
            try await publish(world, lifetime)
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
            try await announce(next, world)
            try await body(world, next)
        }
    }

    private func publish(_ world: World, _ lifetime: Int64 = 180) async throws {
        let content = try await world.draft {
            $0.formats = World.fewFormats
            $0.lifetime = lifetime * Self.day
        }
        // The operator is late.
        try await world.publish(content, forcing: [.lint, .outlook])
    }

    private func announce(_ next: TestCertificate, _ world: World) async throws {
        try await world.catalog.announce(
            CertificateChain(next.chain), from: world.now + 8 * Self.day, on: world.catalogHost, of: world.app,
            by: "operator")
    }

    private func readiness(of next: TestCertificate, _ world: World) async throws -> InstallationReadiness {
        try await world.publisher.readiness(of: Digest(of: next.der), on: world.catalogHost, of: world.app)
    }

    private func end(of certificate: TestCertificate) throws -> Int64 {
        Int64(try #require(certificate.notAfter).timeIntervalSince1970) + 1
    }

    @Test("Once what is served has expired, the next is installed at once, and people are alerted")
    func expired() async throws {
        try await run { world, next in
            let end = try end(of: world.shown)
            try await world.pass(end - 1 - world.now)
            let early = try await readiness(of: next, world)
            #expect(!early.isReady && !early.isUrgent && early.alert == nil, "\(early)")
            try await world.pass(1)
            let late = try await readiness(of: next, world)
            #expect(!late.isReady && late.isUrgent && late.isInstallable, "\(late)")
            #expect(late.lockedOutSince == end && late.servedUntil == end, "\(late)")
            let alert = try #require(late.alert)
            #expect(alert.contains("install now, and alert") && alert.contains("since \(ClockGuard.text(end))"))
        }
    }

    @Test("If what is served ends before the wait is over, the next is installed at once; if not, it waits")
    func endsFirst() async throws {
        try await run { world, next in
            let end = try end(of: world.shown)
            try await world.pass(end - 3 * Self.day - world.now)
            try await publish(world)
            let urgent = try await readiness(of: next, world)
            #expect(!urgent.isReady && urgent.lockedOutSince == end, "\(urgent)")
            #expect(urgent.until.map { $0 > end } == true && urgent.alert?.contains("at the latest") == true)
        }
        try await run { world, next in
            try await world.pass(try end(of: world.shown) - 8 * Self.day - world.now)
            try await publish(world)
            let waiting = try await readiness(of: next, world)
            #expect(!waiting.isReady && !waiting.isUrgent && waiting.until != nil, "\(waiting)")
        }
    }

    @Test("If documents end soon after what is served, the next is installed, and people are alerted")
    func ending() async throws {
        try await World.run { world in
            try await world.pass(try end(of: world.shown) - 10 * Self.day - world.now)
            try await publish(world, 14)
            let open = try await readiness(of: world.announced, world)
            #expect(open.isReady && open.until != nil && !open.isUrgent, "there is time for a change: \(open)")
            try await world.pass(8 * Self.day)
            let urgent = try await readiness(of: world.announced, world)
            let content = try #require(try await world.publisher.published(world.app))
            #expect(urgent.isReady && urgent.lockedOutSince == content.end + 1, "\(urgent)")
        }
    }

    @Test(
        "What is served and ends in the second in which the wait ends, or before it, has ended before the wait",
        arguments: [(100, 100, true), (99, 100, true), (101, 100, false), (50, nil, true), (51, nil, false)])
    func sameSecond(end: Int64, until: Int64?, isOver: Bool) {
        #expect(InstallationReadiness.lockout(servedUntil: end, waitingUntil: until, at: 50) == (isOver ? end : nil))
        #expect(InstallationReadiness.lockout(servedUntil: nil, waitingUntil: until, at: 50) == nil)
    }

    @Test("A forgotten server with an expired certificate has nothing installed early")
    func forgotten() async throws {
        try await run { world, next in
            let old = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .hours(1) }
            try await world.see(old, at: "192.0.2.9")
            world.clock.advance(by: .seconds(7_200))
            try await world.see(old, at: "192.0.2.9")
            try await world.see(world.shown)
            let waiting = try await readiness(of: next, world)
            #expect(!waiting.isInstallable, "\(waiting)")
            #expect(waiting.servedUntil == (try end(of: world.shown)), "\(waiting)")
        }
    }

    @Test("Someone between the watcher and the host has nothing installed early by any certificate of theirs")
    func between() async throws {
        try await run { world, next in
            let foreign = try TestAuthority.root(clock: world.clock)
            for hours in [-1.0, 1] {
                let middle = try foreign.leaf(names: [.dns(World.host)]) {
                    $0.notBefore = .hours(-2)
                    $0.notAfter = .hours(hours)
                }
                world.clock.advance(by: .seconds(3_700))
                try await world.see(middle)
                let waiting = try await readiness(of: next, world)
                #expect(!waiting.isInstallable && waiting.servedUntil == nil, "\(waiting)")
            }
        }
    }

    @Test("Once documents have ended, the gate still answers, and the next is installed when what is served expires")
    func documentsEnded() async throws {
        try await run(lifetime: 20) { world, next in
            try await world.pass(21 * Self.day)
            #expect(try await !readiness(of: next, world).isInstallable)
            let standing = try await world.publisher.standing(of: world.app)
            #expect(!standing.isGood && standing.endWords(at: world.now).contains("publish it now"), "\(standing)")
            #expect(standing.refusalWords(at: world.now)?.contains("publish now") == true)
            try await world.pass(try end(of: world.shown) - world.now)
            #expect(try await readiness(of: next, world).isUrgent)
        }
    }

    @Test("Over HTTP the answer is 200 with installNow, so that hooks install and alert")
    func call() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await publish(world)
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
            try await announce(next, world)
            let target = "/v1/apps/bank/hosts/\(World.host)/next/\(Digest(of: next.der))/ready"
            let closed = try await site.call("GET", target, token: "gate")
            closed.isError(409, .notReady)
            let end = try end(of: world.shown)
            world.clock.advance(by: .seconds(end - world.now))
            try await world.see(world.shown)
            let urgent = try await site.call("GET", target, token: "gate")
            #expect(urgent.status == 200 && urgent.json["ready"] as? Bool == false, "\(urgent.text)")
            #expect(urgent.json["installNow"] as? Bool == true, "\(urgent.text)")
            #expect(urgent.json["lockedOutSince"] as? String == UTCText.encode(end), "\(urgent.text)")
            #expect(urgent.body.contains("\"installNow\":true"), "the documented hook looks for this")
            try await publish(world)
            try await world.pass(8 * Self.day)
            let open = try await site.call("GET", target, token: "gate")
            #expect(open.json["ready"] as? Bool == true && open.json["installNow"] as? Bool == false, "\(open.text)")
        }
    }

    @Test("The command exits with 5 if what is served has expired, and with 1 as long as it is worth waiting")
    func command() async throws {
        try await ServeSite.run { site in
            let catalog = site.open.catalog
            let host = try CatalogHost(name: World.host)
            let gate = [
                "gate", "bank", World.host, "--data", site.data, "--digest", "\(Digest(of: site.announced.der))",
            ]
            let waiting = try await ServerProgram.run(gate, in: site.folder)
            #expect(waiting.status == 1 && waiting.output.contains("not yet: "), "\(waiting)")
            let old = try site.root.leaf(names: [.dns(World.host)]) {
                $0.notBefore = .days(-2)
                $0.notAfter = .hours(-1)
            }
            let seen = try Observation(
                vantage: Vantage.usual, address: "192.0.2.1", chain: CertificateChain(old.chain), firstSeen: site.now,
                lastSeen: site.now)
            try await catalog.note([(host: host, seen: [seen])], from: Vantage.usual, of: site.app, by: "test")
            let urgent = try await ServerProgram.run(gate, in: site.folder)
            #expect(urgent.status == 5 && urgent.output.contains("install now, and alert"), "\(urgent)")
            let json = try await ServerProgram.run(gate + ["--json"], in: site.folder)
            #expect(json.status == 5 && json.output.contains("\"installNow\":true"), "\(json)")
        }
    }
}
