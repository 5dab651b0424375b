import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A start reads the audit part by part, and all of it.
@Suite("A long audit", .timeLimit(.minutes(5)))
struct LongAuditTests {
    /// Another process that begins on a copy of the server's folder.
    private func begin(on copy: (folder: URL, engine: SQLiteEngine), of world: World) async throws -> Ledger {
        try await world.publisher(on: copy.engine, in: copy.folder).catalog.ledger
    }

    @Test("It is followed from its first entry, however many parts it has, and a changed entry of any part is refused")
    func parts() async throws {
        try await World.run { world in
            // The first part is full, and so is the last.
            let entries = 3 * Int64(Catalog.part)
            try await world.catalog.transact { step throws(ServerError) in
                while step.ledger.chain.head.count < entries { try step.record(.backup, by: "test", [:]) }
            }
            let head = world.catalog.ledger.chain.head
            #expect(head.count == entries)
            let whole = try world.copy("whole")
            #expect(try await begin(on: whole, of: world).chain.head == head)
            await whole.engine.close()
            // A process that knows a part of it goes on from there.
            let behind = try await world.another(world.engine).catalog
            try await world.catalog.transact { step throws(ServerError) in
                for _ in 0..<2 * Catalog.part + 1 { try step.record(.backup, by: "test", [:]) }
            }
            _ = try await behind.now()
            #expect(behind.ledger.chain.head == world.catalog.ledger.chain.head)
            #expect(behind.ledger.chain.head.count == entries + 2 * Int64(Catalog.part) + 1)
            // Rewritten, removed, and cut off.
            let statements: [(Int, Query)] = [
                (500, "UPDATE audit SET entry = (SELECT entry FROM audit WHERE place = 600) WHERE place = $1"),
                (Catalog.part, "UPDATE audit SET entry = (SELECT entry FROM audit WHERE place = 600) WHERE place = $1"),
                (2 * Catalog.part + 1, "DELETE FROM audit WHERE place = $1"),
                (3 * Catalog.part, "DELETE FROM audit WHERE place >= $1"),
            ]
            for (number, (place, statement)) in statements.enumerated() {
                let copy = try world.copy("\(number)")
                _ = try await copy.engine.write { session throws(ServerError) in
                    try session.run(statement, [.integer(Int64(place))])
                }
                await expectError(.brokenChain) { try await begin(on: copy, of: world) }
                await copy.engine.close()
            }
        }
    }
}
