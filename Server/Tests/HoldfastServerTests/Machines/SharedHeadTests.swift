import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The file and the row that record the end of the audit, when something does not go as usual.
@Suite(
    "The head of several machines", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct SharedHeadTests {
    private typealias State = SharedAuditTests.State

    private static let other = SealedKeyTests.secret(9).id

    private func add(_ world: World) async throws {
        try await world.catalog.set(try CatalogHost(name: "www.example.com"), of: world.app, by: "test")
    }

    @Test("A commit that is still on its way when its machine has crashed is taken when it arrives, signed or not")
    func onItsWay() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let (head, before) = (world.catalog.ledger.chain.head, try await State(world.engine))
            try await add(world)
            let (next, after) = (world.catalog.ledger.chain.head, try await State(world.engine))
            try await before.restore(world.engine)
            // A machine that reads meanwhile sees neither the entry nor whether it comes.
            try second.head.write(head, next: next)
            try await world.working(on: second) { #expect($0.catalog.ledger.chain.head == head) }
            #expect(try second.head.heads() == [head, next])
            let row = try #require(after.audit.last)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("INSERT INTO audit (place, entry) VALUES ($1, $2)", [row[0], row[1]])
            }
            try await world.working(on: second) { other in
                #expect(other.catalog.ledger.chain.head == next)
                try await other.catalog.signHead()
            }
            #expect(try second.head.heads() == [next])
            #expect(try await world.catalog.hosts(of: world.app).count == 2)
            #expect(try await world.catalog.headDoubt() == nil)
        }
    }

    @Test("Where another secret has signed, nothing is written that this one cannot sign")
    func otherSecret() async throws {
        try await World.withMachines(.postgresql) { world, second in
            let before = try await State(world.engine)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE audit_head SET secret_id = $1", [.bytes(Self.other)])
            }
            let error = await expectError(.secretFile) { try await add(world) }
            #expect(error?.expected.contains(Hex.encode(Self.other)) == true)
            #expect(try await State(world.engine).audit == before.audit)
            #expect(try await world.catalog.headDoubt()?.contains("which is not here") == true)
            try await before.restore(world.engine)
            try await add(world)
            let hosts = try await world.working(on: second) { try await $0.catalog.hosts(of: world.app) }
            #expect(hosts.count == 2)
        }
    }

    @Test("A row whose signature is right and that names another end is doubted, until somebody writes")
    func otherColumns() async throws {
        try await World.withMachines(.postgresql) { world, _ in
            #expect(try await world.catalog.headDoubt() == nil)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE audit_head SET count = count + 1")
            }
            #expect(try await world.catalog.headDoubt() != nil)
            try await add(world)
            #expect(try await world.catalog.headDoubt() == nil)
        }
    }
}
