import Foundation
import Holdfast
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A server's work with its database, on PostgreSQL. `HOLDFAST_TEST_DATABASES` runs other suites there as well.
@Suite(
    "A server on PostgreSQL", .besidePostgres,
    .needs(.postgreSQL))
struct PostgreSQLWorldTests {
    private func settled(_ kind: StorageKind, _ body: (World) async throws -> Void) async throws {
        let address = try await kind.address()
        try await WorldDatabase.$current.withValue(address) { try await World.settled(body) }
    }

    @Test(
        "What is approved is published and signed again, by several processes in turns, and clients follow",
        arguments: StorageKind.remote)
    func publishing(_ kind: StorageKind) async throws {
        try await settled(kind) { world in
            try await world.publish()
            try await world.pass(300)
            #expect(try await world.publisher.renew().signed.count == 2)
            let change = try await world.approved(World.formats).change
            try await world.opened { opened in
                #expect(try await opened.publisher.examine().filter(\.isFault) == [])
                guard case .published(2) = try await opened.publisher.publish(change).stage else {
                    Issue.record("the other process did not publish")
                    return
                }
                let other = World(world, as: opened, in: world.folder)
                try await other.everybodyFollows(isThorough: false)
            }
            // This process takes what the other has done, and goes on.
            try await world.publisher.refresh()
            #expect(world.catalog.ledger.generation(of: world.app) == 2)
            try await world.pass(300)
            #expect(try await world.publisher.renew().signed.count >= 1)
            try await world.publish(forcing: [.lint])
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test(
        "Of processes that write at once each has its entry in the audit, and the chain holds",
        arguments: StorageKind.remote)
    func audit(_ kind: StorageKind) async throws {
        try await settled(kind) { world in
            try await world.opened { opened in
                let before = try await world.catalog.audit(after: -1, limit: 10_000).count
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        let catalog = number.isMultiple(of: 2) ? world.catalog : opened.catalog
                        group.addTask {
                            try await catalog.set(
                                CatalogHost(name: "host-\(number).example.com"), of: world.app, by: "test")
                        }
                        group.addTask {
                            let hosts = try await catalog.hosts(of: world.app)
                            #expect(!hosts.isEmpty)
                        }
                    }
                    try await group.waitForAll()
                }
                let entries = try await opened.catalog.audit(after: -1, limit: 10_000)
                #expect(entries.count == before + 20)
                #expect(throws: Never.self) { try AuditChain.verified(entries, known: nil) }
                #expect(try await world.catalog.hosts(of: world.app).count == 21)
            }
        }
    }

    @Test("A row of the audit that somebody changed, removed or added is noticed, and nothing is signed")
    func rewritten() async throws {
        let server = try #require(PostgresServer.current)
        for damage in [
            "DELETE FROM audit WHERE place = (SELECT max(place) FROM audit);",
            "UPDATE audit SET entry = set_byte(entry, 20, 65) WHERE place = (SELECT max(place) FROM audit);",
            "INSERT INTO audit SELECT place + 1, entry FROM audit ORDER BY place DESC LIMIT 1;",
        ] {
            let name = try await server.database()
            try await WorldDatabase.$current.withValue(try server.address(name)) {
                try await World.settled { world in
                    let change = try await world.approved().change
                    try await server.run(damage, in: name)
                    await expectError(.brokenChain) { try await world.publisher.publish(change) }
                    await #expect(throws: ServerError.self) { try await world.opened { _ in } }
                }
            }
        }
    }
}
