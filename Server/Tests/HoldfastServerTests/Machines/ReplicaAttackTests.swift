import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerStore

/// An attacker writes to the database while three machines work on it.
@Suite(
    "An attacker in the database of several machines", .besidePostgres, .timeLimit(.minutes(60)),
    .needs(.postgreSQL))
struct ReplicaAttackTests {
    /// How many columns are written: a part in the suite, and all at night.
    private static func some(
        _ writes: [ReplicaAttack.Write], using generator: inout SeededGenerator
    ) -> [ReplicaAttack.Write] {
        guard mutants <= 10_000 else { return writes }
        let core: Set = ["app", "approval", "approver", "audit", "change", "delivered", "document", "signing_key"]
        let others = Set(writes.map(\.table)).subtracting(core).sorted().shuffled(using: &generator).prefix(2)
        return core.union(others).sorted().compactMap { table in
            writes.filter { $0.table == table }.randomElement(using: &generator)
        }
    }

    @Test("Whatever is written into the tables, no machine signs, serves or uploads what was not approved")
    func everyTable() async throws {
        let postgres = try #require(PostgresServer.current)
        let database = try postgres.address(try await postgres.database())
        try await ReplicaSite.run(on: database) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()
            let attack = try await ReplicaAttack(replicated, database)
            try attack.dropConstraints()
            var generator = SeededGenerator(seed: 0xA77AC)
            var written = 0
            for (number, write) in Self.some(try attack.writes(), using: &generator).enumerated() {
                let (fresh, other) = (
                    replicated.replicas[number % 3], replicated.replicas[(number + 1) % 3]
                )
                let isTaken = try await attack.with(write) {
                    // One machine reads everything again, one is asked to publish, and one continues as before.
                    await fresh.kill()
                    try await fresh.start(isWhole: false)
                    try await attack.publish(on: other, "\(write)")
                    try await attack.expectClean("\(write)")
                }
                written += isTaken ? 1 : 0
            }
            #expect(written >= 8)
            for replica in replicated.replicas {
                await replica.kill()
                try await replica.start()
                try await eventually("machine \(replica.number) has recovered") {
                    try await replicated.faults(on: replica).isEmpty
                }
            }
            let second = try await replicated.approvedChange(until: 170)
            #expect(try await replicated.publish(second, on: replicated.replicas[1]) == 2)
            try await replicated.follow()
            for replica in replicated.replicas {
                try await replicated.everybodyFollows(replica.port, from: replica)
            }
        }
    }

    @Test("Without an approval that counts a change is not published on any machine; with it, the same look finds it")
    func control() async throws {
        let postgres = try #require(PostgresServer.current)
        let database = try postgres.address(try await postgres.database())
        try await ReplicaSite.run(on: database) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()
            try await replicated.everybodyFollows(replicated.replicas[0].port, from: replicated.replicas[0])
            let attack = try await ReplicaAttack(replicated, database)
            // With any state, and with an approval by another identity.
            try attack.run("UPDATE change SET state = 'approved'")
            try attack.run(
                """
                INSERT INTO approval SELECT change_id, sha256(identity), text, signature, created_at FROM approval \
                WHERE change_id = $1
                """, [.bytes(attack.wanted.bytes)])
            for replica in replicated.replicas { try await attack.publish(on: replica, "a made-up approval") }
            try await attack.expectClean("a made-up approval")
            try attack.run(
                """
                DELETE FROM approval AS made WHERE change_id = $1 AND EXISTS (SELECT 1 FROM approval AS given \
                WHERE given.change_id = made.change_id AND sha256(given.identity) = made.identity)
                """, [.bytes(attack.wanted.bytes)])
            try await attack.expectControl()
        }
    }

    @Test("An older dump of the database is no state to go on from: no machine signs, and all serve what is newest")
    func olderDump() async throws {
        let postgres = try #require(PostgresServer.current)
        let name = try await postgres.database()
        let database = try postgres.address(name)
        try await ReplicaSite.run(on: database) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()
            let dump = replicated.site.folder.appending(path: "dump.sql")
            try await postgres.tool("pg_dump", ["--clean", "--if-exists", "--file", dump.path, name])
            let second = try await replicated.approvedChange(until: 170)
            try await replicated.publish(second, on: replicated.replicas[1])
            try await replicated.follow()
            try await replicated.everybodyFollows(replicated.replicas[2].port, from: replicated.replicas[2])
            let newest = try await replicated.newest()
            let waiting = try await replicated.approvedChange(until: 160)

            let counts = replicated.replicas.map { $0.text.utf8.count }
            try await postgres.run(String(contentsOf: dump, encoding: .utf8), in: name)
            // One restarts and finds it, the others notice it as they work.
            await replicated.replicas[0].kill()
            let again = try await replicated.replicas[0].start(isWhole: false)
            for (replica, count) in zip(replicated.replicas, [0] + counts.dropFirst()) {
                try await replica.running?.says("brokenChain", after: count)
            }
            for replica in replicated.replicas {
                let (status, output) = try await replica.command("publish", "\(waiting)")
                #expect(status != 0 && !output.contains("published: generation"), "\(output)")
                for path in ["lists/bank.json", "pins/bank.pins.json"] {
                    #expect(await replica.digest(of: path) == newest[path], "machine \(replica.number)")
                }
                let doctor = try await replica.command("doctor")
                #expect(doctor.status != 0, "\(doctor.output)")
            }
            #expect(!again.text.contains("signed again"))
            let signed = try await postgres.run(
                "SELECT 'n=' || count(*) FROM document WHERE generation > 1;", in: name)
            #expect(signed.contains("n=0"), "\(signed)")
        }
    }
}
