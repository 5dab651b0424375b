import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// How many machines are killed at any moment while they work: `HOLDFAST_KILLS`, or 8.
private let kills = Int(ProcessInfo.processInfo.environment["HOLDFAST_KILLS"] ?? "") ?? 8

/// Three machines on one database, of which one after the other loses its power.
@Suite(
    "serve on several machines, killed", .besidePostgres, .timeLimit(.minutes(kills > 8 ? 60 : 10)),
    .needs(.postgreSQL))
struct KilledReplicaTests {
    /// Results that were reported as done.
    private struct Acknowledged {
        var generation: Int64
        var tokens: Set<String> = []
    }

    @Test(
        "Killed at any moment under load: nothing acknowledged is lost or half published, and the others go on",
        arguments: StorageKind.remote)
    func killed(_ kind: StorageKind) async throws {
        try await ReplicaSite.run(on: try await kind.address()) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            var done = Acknowledged(generation: try await replicated.publish(first, on: replicated.replicas[1]))
            try await replicated.follow()
            let witness = ReplicaWitness()
            var generator = SeededGenerator(seed: kind == .pgbouncer ? 0x51EE1 : 0x51EE2)
            try await witness.watching(replicated.replicas) {
                for round in 0..<max(1, kills / StorageKind.remote.count) {
                    try await kill(round, replicated, witness, &done, &generator)
                }
            }
            try await expectWhole(replicated)
            witness.expect(try await replicated.signed())
            #expect(witness.count > kills)
        }
    }

    /// A change on its way, a command that writes, and a machine that dies in the middle.
    private func kill(
        _ round: Int, _ replicated: ReplicaSite, _ witness: ReplicaWitness, _ done: inout Acknowledged,
        _ generator: inout SeededGenerator
    ) async throws {
        let site = replicated.site
        // An outlook takes the longer the more was published lately.
        let isPublished = round % max(1, kills / 16) == 0
        let change = isPublished ? try await replicated.approvedChange(until: 179 - Int64(round % 90)) : nil
        let victim = try #require(replicated.replicas.randomElement(using: &generator))
        let publisher = try #require(replicated.replicas.randomElement(using: &generator))
        let publishing = try change.map { try publisher.starting("publish", "\($0)") }
        let name = "t\(round)"
        let adding = try #require(replicated.replicas.randomElement(using: &generator)).starting(
            "token", "add", name, "--every-app", "--scope", "read")
        let pause = Int.random(in: 1...200, using: &generator)
        let isPublisherKilled = Int.random(in: 0..<2, using: &generator) == 0
        // Most of the time that a publication takes, nothing is written: it says what comes before that.
        if isPublisherKilled { try? await publishing?.says("gate outlook") }
        let moment = witness.count + pause
        try await eventually("the machines are asked") { witness.count >= moment }
        if isPublisherKilled { publishing?.signal(SIGKILL) }
        await victim.kill()

        if await adding.status() == 0 { done.tokens.insert(name) }
        if let publishing, await publishing.status() == 0 {
            done.generation = max(done.generation, try replicated.generation(in: publishing.text))
        }
        // The others need no help for it.
        try await replicated.follow()
        _ = try await site.open.catalog.now()
        let ledger = site.open.catalog.ledger
        #expect(ledger.generation(of: site.app) >= done.generation)
        done.generation = ledger.generation(of: site.app)
        try await replicated.expectWholePublications()
        #expect(Set(ledger.tokens.values.map(\.name)).isSuperset(of: done.tokens))
        try await victim.start()
        try await replicated.follow([victim])
    }

    /// Everything is as before the kills.
    private func expectWhole(_ replicated: ReplicaSite) async throws {
        let change = try await replicated.approvedChange(until: 89)
        try await replicated.publish(change, on: replicated.replicas[0])
        try await replicated.follow()
        for replica in replicated.replicas {
            // A killed machine's deliveries stay reserved for a minute.
            try await eventually("machine \(replica.number) is whole") {
                try await replicated.faults(on: replica).isEmpty
            }
            try await replicated.everybodyFollows(replica.port, from: replica)
            #expect(await replica.stop() == 0)
        }
    }
}
