import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// A server lives through a random story, a backup is made somewhere in it, and is restored at the end.
@Suite("Restoring any backup")
struct AnyBackupTests {
    /// A numbered item: a version of a document, or a generation.
    private struct Numbered: Hashable {
        let name: String
        let number: Int64
    }

    /// The meaning of each number.
    private func meanings(_ world: World) async throws -> [Numbered: String] {
        try await world.catalog.look { session, _ throws(ServerError) in
            var meanings: [Numbered: String] = [:]
            for row in try session.run("SELECT entry FROM audit ORDER BY place") {
                let entry = try AuditEntry(try row.bytes(0))
                let facts = EntryFacts(entry)
                switch entry.event {
                case .signed, .withdrawn:
                    let number = Numbered(name: try facts.text("format"), number: try facts.number("version"))
                    meanings[number] = entry.facts["digest"] ?? "withdrawn"
                case .restored where entry.facts["what"] == "document":
                    let number = Numbered(name: try facts.text("format"), number: try facts.number("version"))
                    meanings[number] = try facts.text("digest")
                case .published:
                    let number = Numbered(name: "generation", number: try facts.number("generation"))
                    meanings[number] = try facts.text("change")
                default: break
                }
            }
            return meanings
        }
    }

    /// A random step of a server's life.
    private func step(_ world: World, _ generator: inout SeededGenerator) async throws {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1:
            try await world.pass(300)
            _ = try await world.publisher.renew()
        case 2:
            try await world.pass(60)
            try await world.publish(try await world.draft { $0.formats = AnyBackupTests.formats })
        case 3: try await world.approve(try await propose(world))
        case 4:
            let change = try await propose(world)
            try await world.catalog.add(try await world.statement(.carol, .reject, of: change))
        default: try await announce(world, try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) })
        }
    }

    private static let formats = World.formats.filter { $0.kind != .pinFile }

    private func propose(_ world: World) async throws -> RandomID {
        try await world.propose(try await world.draft { $0.formats = Self.formats }).change
    }

    /// Announces another certificate, and publishes it.
    private func announce(_ world: World, _ next: TestCertificate) async throws {
        try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
        try await world.catalog.announce(
            CertificateChain(next.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
            by: "operator")
        try await world.publish(try await world.draft { $0.formats = Self.formats })
    }

    @Test(
        "No number is given twice with another meaning, no client goes back, and all of them take what comes next",
        arguments: 0..<max(3, mutants / 4_000))
    func anyBackup(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(0xA4B + seed * 7_919))
        try await World.settled { world in
            try await world.publish(try await world.draft { $0.formats = Self.formats })
            let clients = RestoringTests.Clients()
            let steps = 5
            let moment = Int.random(in: 0...steps, using: &generator)
            var backup: URL?
            for number in 0...steps {
                if number == moment { backup = try await world.backUp() }
                if number < steps { try await step(world, &generator) }
            }
            let file = try #require(backup)
            defer { try? FileManager.default.removeItem(at: file) }
            let before = try await clients.ask(world, letIn: [world.shown])
            let given = try await meanings(world)
            let served = world.publisher.live.current
            let isKnown = Bool.random(using: &generator)
            try await world.pass(Int64.random(in: 1...400, using: &generator))
            try await world.restored(file, known: isKnown ? world.catalog.ledger.chain.head : nil) { restored, report in
                // The documents that were served last are served again.
                #expect(
                    restored.publisher.live.current.documents.mapValues(\.bytes)
                        == served.documents.mapValues(\.bytes))
                let round = try await restored.publisher.renew()
                #expect(round.signed.isEmpty == (report.held == [world.app]), "\(round)")
                let between = try await clients.ask(restored, letIn: [world.shown], isHeld: !report.held.isEmpty)
                #expect(between >= before)
                let open = restored.catalog.ledger.proposals.keys.filter { restored.catalog.ledger.ended[$0] == nil }
                #expect(open.isEmpty)

                try await restored.pass(60)
                let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
                try await announce(restored, next)
                #expect(try await clients.ask(restored, letIn: [world.shown, next]) > before)
                try await restored.pass(300)
                #expect(try await restored.publisher.renew().problems == [])
                for (number, meaning) in try await meanings(restored) {
                    #expect(given[number] == nil || given[number] == meaning, "\(number)")
                }
            }
        }
    }
}
