import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("Formats that name certificates, and certificates that live for a short time", .timeLimit(.minutes(5)))
struct ShortLifetimeTests {
    private static let list = World.fewFormats.filter { $0.kind == .list }

    /// An app whose clients may go on for thirty days with what was replaced.
    private func run(_ body: (World) async throws -> Void) async throws {
        try await World.run { world in
            let settings = try AppSettings(staleness: 30 * 86_400, canary: 0, anchors: [world.root.root], builds: [])
            try await world.catalog.set(settings, of: world.app, by: "operator")
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.see(world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) })
            try await body(world)
        }
    }

    private func refusals(
        _ world: World, _ formats: [ContentFormat], includesSeen: Bool = true, forcing: Set<Gate> = []
    ) async throws -> [String] {
        let content = try await world.draft {
            $0.formats = formats
            $0.includesSeen = includesSeen
        }
        let report = try await world.propose(content, forcing: forcing).report
        return report.results.first { $0.gate == .lint && !$0.isForced }?.refusals.filter { $0.contains("quarter") }
            ?? []
    }

    @Test("A staleness beyond a quarter of an announced certificate's lifetime is refused with both numbers")
    func announced() async throws {
        try await run { world in
            #expect(try await refusals(world, Self.list) == [])
            let next = try world.root.leaf(names: [.dns(World.host)]) {
                $0.notBefore = .days(0); $0.notAfter = .days(47)
            }
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now, on: world.catalogHost, of: world.app, by: "operator")
            let words = try #require(try await refusals(world, Self.list).first)
            #expect(words.contains("take 30 days") && words.contains("lifetime of 47 days"), "\(words)")
            #expect(try await refusals(world, Self.list, forcing: [.lint]) == [])
            let pinFile = World.fewFormats.filter { $0.kind == .pinFile }
            #expect(try await refusals(world, pinFile) == [], "key pins survive a renewal")
        }
    }

    @Test("A certificate with a short lifetime stops a change only if the change publishes it")
    func shown() async throws {
        try await run { world in
            let short = try world.root.leaf(names: [.dns(World.host)]) {
                $0.notBefore = .days(0); $0.notAfter = .days(47)
            }
            try await world.see(short)
            #expect(try await refusals(world, Self.list, includesSeen: false) == [])
            #expect(try await refusals(world, Self.list).count == 1)
        }
    }

    @Test("The default staleness and a canary of three days are within a quarter of 47 days")
    func defaults() throws {
        let settings = try AppSettings(canary: 3 * 86_400, anchors: [TestAuthority.root().root], builds: [])
        #expect(settings.staleness == 7 * 86_400 && settings.staleness + settings.canary <= 47 * 86_400 / 4)
    }
}
