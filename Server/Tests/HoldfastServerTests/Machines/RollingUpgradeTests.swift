import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Machines of two versions of the program on one database with everything in it.
@Suite(
    "Upgrading one machine after the other", .besidePostgres, .timeLimit(.minutes(10)),
    .needs(.postgreSQL))
struct RollingUpgradeTests {
    /// Undoes the newest step, so that the tables are those of the version before, with the rows they had.
    private static let undoing = (
        version: 12,
        text: """
        DROP INDEX observation_of_chain; DROP INDEX observation_of_address; DROP INDEX next_chain_of_chain; \
        ALTER TABLE observation DROP COLUMN standing; ALTER TABLE public_key DROP COLUMN is_proposed; \
        UPDATE schema_version SET version = 11;
        """
    )

    @Test("Three machines that start at once on the tables of the version before bring them up to date, and go on")
    func previous() async throws {
        // A newer step is undone here instead.
        try #require(PostgreSQLMigrations.steps.count == Self.undoing.version)
        let postgres = try #require(PostgresServer.current)
        let name = try await postgres.database()
        try await ReplicaSite.run(on: try postgres.address(name)) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()
            let waiting = try await replicated.approvedChange(until: 170)
            for replica in replicated.replicas { #expect(await replica.stop() == 0) }
            try await replicated.site.open.catalog.forgetOrigins(
                on: CatalogHost(name: World.host), of: replicated.site.app)
            let known = try await replicated.newest()
            try await postgres.run(Self.undoing.text, in: name)
            // A chain and a key that nothing names, as hosts left them behind.
            try await postgres.run(
                """
                INSERT INTO chain (digest, certificates) \
                VALUES (decode(repeat('cd', 32), 'hex'), decode(repeat('00', 40000), 'hex')); \
                INSERT INTO public_key (pin, octets) \
                VALUES (decode(repeat('cd', 32), 'hex'), decode(repeat('00', 91), 'hex'));
                """, in: name)
            try await replicated.start()
            let version = try await postgres.run("SELECT 'v=' || version FROM schema_version;", in: name)
            #expect(version.contains("v=\(Self.undoing.version)"), "\(version)")
            let unnamed = try await postgres.run(
                """
                SELECT 'n=' || (SELECT count(*) FROM chain WHERE digest = decode(repeat('cd', 32), 'hex')) \
                + (SELECT count(*) FROM public_key WHERE pin = decode(repeat('cd', 32), 'hex'));
                """, in: name)
            #expect(unnamed.contains("n=0"), "\(unnamed)")
            for replica in replicated.replicas {
                #expect(await replica.digest(of: "lists/bank.json") == known["lists/bank.json"])
            }
            // Changes that were approved before the upgrade still are.
            #expect(try await replicated.publish(waiting, on: replicated.replicas[2]) == 2)
            try await replicated.follow()
            for replica in replicated.replicas {
                #expect(try await replicated.faults(on: replica) == [])
                try await replicated.everybodyFollows(replica.port, from: replica)
            }
        }
    }

    /// The steps of a newer program.
    private static let newer = PostgreSQLMigrations(
        known: PostgreSQLMigrations.newest.known + [
            PostgreSQLMigrations.Step(
                bytes: Array(
                    """
                    ALTER TABLE app ADD COLUMN nickname TEXT;
                    ALTER TABLE document ADD COLUMN looked_at BIGINT NOT NULL DEFAULT 0;
                    CREATE TABLE nickname (app TEXT PRIMARY KEY REFERENCES app (name), nickname TEXT NOT NULL);
                    """.utf8), isAdditive: true)
        ])

    @Test(
        "While machines serve, a newer program takes a step and serves beside them: they publish, sign and carry for each other, and one that starts again with the older program serves documents"
    )
    func beside() async throws {
        let postgres = try #require(PostgresServer.current)
        let name = try await postgres.database()
        let address = try postgres.address(name)
        try await ReplicaSite.run(on: address) { replicated in
            let site = replicated.site
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()

            // The third machine gets the newer program.
            #expect(await replicated.replicas[2].stop() == 0)
            let machine = replicated.replicas[2].server
            let hold = try await DatabaseLock.take(address, migrations: Self.newer)
            let engine = try await PostgreSQLEngine.open(address, clock: nil, hold: hold, migrations: Self.newer)
            let secret = try SecretFile(site.secret).read(outside: machine.url)
            let catalog = try await Catalog(
                engine, server: Story.server, genesis: machine.readConfiguration().genesis, head: machine.head,
                time: ServerTime(site.clock, file: machine.clockFile), secrets: [secret])
            let newer = Publisher(catalog, folder: machine.publicFolder, secret: secret)
            try await newer.refresh()
            let version = try await postgres.run("SELECT 'v=' || version FROM schema_version;", in: name)
            #expect(version.contains("v=\(Self.newer.known.count)"), "\(version)")

            // It publishes, and the older ones serve and carry that.
            try await site.open.publisher.refresh()
            let second = try await replicated.approvedChange(until: 170)
            #expect(try await newer.publish(second).stage == .published(generation: 2))
            try await replicated.follow()
            // The older ones lose their connections, and come back.
            try await postgres.run(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(name)';")
            try await eventually("the newer one has it again") { (try? await hold.renew()) != nil }
            // An older one publishes, and the newer one takes it.
            let third = try await replicated.approvedChange(until: 160)
            try await eventually("an older one publishes") {
                (try? await site.open.publisher.publish(third).stage) == .published(generation: 3)
            }
            _ = try await catalog.now()
            #expect(catalog.ledger.generation(of: site.app) == 3)
            #expect(try await newer.deliver().problems == [])
            try await replicated.follow()
            // Both sign again.
            _ = try await newer.renew()
            #expect(try await site.open.publisher.renew().problems == [])
            _ = try await catalog.now()
            for replica in replicated.replicas[..<2] {
                try #require(replica.running?.isRunning == true, "\(replica.text.suffix(2_000))")
                try await replicated.everybodyFollows(replica.port, from: replica)
            }
            // Only this test writes here the documents that machines sign as they restart.
            try await eventually("the newer one is whole") {
                _ = try await catalog.now()
                guard try await newer.deliver().problems == [] else { return false }
                return try await !newer.examine().contains { $0.isFault }
            }

            // An older program that starts now has to be upgraded as well, and serves meanwhile.
            await replicated.replicas[0].kill()
            let again = try await replicated.replicas[0].start(isWhole: false)
            try await again.says("newerDatabase")
            let newest = try await replicated.newest()
            #expect(await replicated.replicas[0].digest(of: "lists/bank.json") == newest["lists/bank.json"])
            await engine.close()
            await hold.release()
            _ = try await replicated.signed()
        }
    }
}
