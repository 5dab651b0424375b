import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel

/// A host whose certificates are renewed again and again, with the people, the server and the apps that this takes: the
/// owner announces, the watcher looks over real TLS, two people approve, the server publishes, and the gate lets the owner
/// install. Only the clock is turned.
struct RenewalCourse {
    /// In what rhythm it goes.
    struct Rhythm: Sendable, CustomTestStringConvertible {
        /// For how many days a certificate is valid.
        let days: Int64
        /// For how many days an app continues to use a replaced document.
        let staleness: Int64
        /// How often the certificate is renewed.
        let renewals: Int

        var testDescription: String { "\(days) days" }
    }

    private static let day: Int64 = 86_400
    private static let kinds: [ContentFormat.Kind] = [.list, .challenge, .trustServer, .repository]

    private let world: World
    private let server: LoopbackTLSServer
    private let rhythm: Rhythm
    private let shop: Shop
    private var issuer: TestAuthority
    private var shown: TestCertificate
    private var next: (certificate: TestCertificate, asked: Int64)?

    /// How often another certificate was installed.
    private(set) var installations = 0
    /// How often an app that had not asked yet would have refused a certificate that waited.
    private(set) var refusedEarly = 0

    private var staleness: Int64 { rhythm.staleness * Self.day }

    /// Prepares everything, and publishes for the first time.
    init(_ rhythm: Rhythm, in world: World, _ server: LoopbackTLSServer) async throws {
        (self.rhythm, self.world, self.server) = (rhythm, world, server)
        shop = try await Shop(Self.kinds, on: server.port, in: world, staleness: rhythm.staleness)
        issuer = try world.root.intermediate(name: "Issuing CA 0")
        shown = try Self.leaf(issuer, rhythm.days)
        try server.serve(shown)
        try await shop.announce(shown.chain, in: 0)
        #expect(try await shop.verdicts() == [.known])
        try await shop.publish()
    }

    private static func leaf(_ issuer: TestAuthority, _ days: Int64) throws -> TestCertificate {
        try issuer.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(Double(days)) }
    }

    /// Months pass, eight steps for each time that apps may go without asking.
    mutating func run() async throws {
        var fleet = try await shop.fleet()
        try await fleet.install(askingEvery: staleness)
        var steps = 0
        while installations < rhythm.renewals || steps % 8 != 0 {
            steps += 1
            try #require(steps < 1_000, "renewals stand still")
            world.clock.advance(by: .seconds(staleness / 8))
            let before = installations
            try await step(&fleet)
            // Apps of every age: some asked right now, some as long ago as they may have.
            if (steps < 8 && steps % 2 == 0) || before != installations {
                try await fleet.install(askingEvery: staleness)
            }
            let refusals = try fleet.refusals(of: shown.chain)
            #expect(refusals == [], "day \((world.now - Story.now) / Self.day)")
        }
        #expect(fleet.count >= 16)
    }

    private mutating func step(_ fleet: inout Fleet) async throws {
        // The periodic signing continues, whatever people do.
        #expect(try await world.publisher.renew().problems == [])
        try await fleet.pass()
        try await look()
        guard let waiting = next else {
            let left = (shown.notAfter?.timeIntervalSince(world.clock.now) ?? 0)
            if left <= Double(staleness) * 1.5 { try await renew() }
            return
        }
        guard world.now >= waiting.asked else {
            refusedEarly += try fleet.refusals(of: waiting.certificate.chain).count
            return
        }
        let digest = Digest(of: waiting.certificate.der)
        let readiness = try await world.publisher.readiness(of: digest, on: shop.host, of: shop.app)
        guard readiness.isReady else {
            let later = world.now + 1
            next?.asked = readiness.until ?? later
            return
        }
        try server.serve(waiting.certificate)
        (shown, next) = (waiting.certificate, nil)
        installations += 1
        try await look()
    }

    /// The owner gets another certificate, with the same key or with another one from another intermediate, and announces
    /// it; people agree.
    private mutating func renew() async throws {
        if installations % 2 == 0 {
            issuer = try world.root.intermediate(name: .commonName("Issuing CA \(installations + 1)"))
            next = (try Self.leaf(issuer, rhythm.days), 0)
        } else {
            next = (try issuer.renew(shown), 0)
        }
        guard let certificate = next?.certificate else { return }
        try await shop.announce(certificate.chain, in: staleness + staleness / 8)
        try await shop.publish()
        let digest = Digest(of: certificate.der)
        let early = try await world.publisher.readiness(of: digest, on: shop.host, of: shop.app)
        #expect(!early.isReady, "\(early)")
        let until = try #require(early.until)
        #expect((world.now + staleness - 1...world.now + staleness + 1).contains(until), "\(early)")
        next?.asked = until
    }

    private func look() async throws {
        let report = try await shop.look()
        #expect(report.alarms == [])
        #expect(report.findings.map(\.verdict) == [.known], "\(report.findings.map(\.words))")
    }
}
