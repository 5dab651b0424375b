import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Clients that are locked out already", .timeLimit(.minutes(5)))
struct RevertTests {
    /// Publishes pins that the host does not present: every client with them is locked out.
    private func publishWrongPins(_ world: World) async throws -> Content {
        try await world.publish(world.draft { $0.formats = World.fewFormats })
        let right = try #require(try await world.catalog.scene(of: world.app).published)
        let other = try world.root.leaf(names: [.dns(World.host)])
        let hosts = try right.hosts.map { host in
            try ContentHost(
                name: host.name, port: host.port,
                certificates: [.init(fingerprint: Digest(of: other.der), expires: world.now + 90 * 86_400)],
                keys: host.keys.filter { $0.pin != (try? Digest(of: world.shown.subjectPublicKeyInfo)) })
        }
        let wrong = try Content(app: world.app, hosts: hosts, formats: right.formats, end: right.end)
        try await world.pass(3_600)
        let change = try await world.propose(wrong, forcing: [.lint, .replay, .outlook]).change
        try await world.approve(change)
        #expect(try await world.publisher.publish(change) == .published(generation: 2))
        return right
    }

    @Test("Going back to the right pins is not refused because clients are locked out by the wrong ones")
    func revert() async throws {
        try await World.run { world in
            let right = try await publishWrongPins(world)
            try await world.pass(3_600)
            let losses = try await world.publisher.standing(of: world.app).losses
            #expect(!losses.isEmpty, "status says who is locked out")
            let report = try await world.propose(right).report
            #expect(report.isPassed, "\(report.refusal.map { "\($0)" } ?? "")")
        }
    }

    @Test("A change that locks out clients who get in today is refused, whoever is locked out elsewhere")
    func other() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let right = try #require(try await world.catalog.scene(of: world.app).published)
            let hosts = try right.hosts.map { host in
                try ContentHost(
                    name: host.name, port: host.port, certificates: [],
                    keys: host.keys.filter { $0.pin != (try? Digest(of: world.shown.subjectPublicKeyInfo)) })
            }
            let wrong = try Content(app: world.app, hosts: hosts, formats: right.formats, end: right.end)
            #expect(try await !world.propose(wrong).report.isPassed)
        }
    }
}
