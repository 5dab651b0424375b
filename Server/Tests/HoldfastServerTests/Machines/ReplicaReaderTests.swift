import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerHTTP
@testable import ServerModel

/// Clients behind a balancer before three machines, while changes are published on one machine after the other.
@Suite(
    "Clients of several machines", .besidePostgres, .timeLimit(.minutes(10)),
    .needs(.postgreSQL, .program("nginx")))
struct ReplicaReaderTests {
    private static let paths =
        ReplicaWitness.paths + [
            "repo/bank/bundle.json", "repo/bank/metadata/timestamp.json",
        ]

    /// Publishes again and again while all clients ask.
    private func run(
        by choice: BalancingNginx.Choice,
        _ body: (ReplicaSite, BalancedPhones) async throws -> Void
    ) async throws {
        try await ReplicaSite.run(on: try await StorageKind.postgresql.address(), hasRepository: true) { replicated in
            let first = try await replicated.approvedChange(until: 180)
            try await replicated.start()
            try await replicated.publish(first, on: replicated.replicas[0])
            try await replicated.follow()
            let root = try await replicated.replicas[0].get("/repo/bank/metadata/1.root.json")
            try await BalancingNginx.with(replicated.replicas.map(\.port), by: choice) { port in
                let phones = try BalancedPhones(replicated.site, on: port, root: Data(root.body.utf8))
                #expect(await phones.ask() == [])
                let witness = ReplicaWitness(Self.paths)
                try await witness.watching(replicated.replicas) {
                    try await phones.asking { try await body(replicated, phones) }
                }
                #expect(await phones.ask() == [])
                #expect(phones.lockouts == [])
                #expect(phones.count > 20)
                witness.expect(try await replicated.signed(), lag: ReplicaSite.lag)
                try await replicated.everybodyFollows(port, from: replicated.replicas[2])
            }
        }
        #expect(
            try String(contentsOf: Manual.root.appending(path: "docs/server/machines.md"), encoding: .utf8)
                .replacing("\n", with: " ").contains("after a publication | ten seconds, never backward"))
    }

    @Test(
        "Sent to the same machine each time, as the manual has it, no app finds anything older, also when that machine dies"
    )
    func sameMachine() async throws {
        try await run(by: .address) { replicated, phones in
            for round in 1...2 {
                let change = try await replicated.approvedChange(until: 180 - Int64(round))
                try await replicated.publish(change, on: replicated.replicas[round])
                try await replicated.follow()
            }
            // While all machines run, no request is refused.
            #expect(phones.refusals == [])
            // Kills the machines that answer them.
            for replica in replicated.replicas[1...] {
                let refusals = phones.refusals.count
                await replica.kill()
                let count = phones.count
                try await eventually("they go on asking") { phones.count >= count + 2 * phones.formats }
                // Two are left. If little else gets a turn, nginx may find that neither answers in time. Each app gets
                // this error once at most: nginx then asks all of them again.
                let found = phones.refusals.dropFirst(refusals)
                #expect(found.allSatisfy { $0.contains("found 502") } && found.count <= phones.formats, "\(found)")
                try await replica.start()
                try await replicated.follow()
                let after = phones.refusals.count
                let asked = phones.count
                try await eventually("they go on asking") { phones.count >= asked + phones.formats }
                #expect(phones.refusals.count == after, "\(phones.refusals.dropFirst(after))")
            }
        }
    }

    @Test(
        "Sent to another machine each time, an app may have to ask again within the lag, and keeps what it has"
    )
    func eachInTurn() async throws {
        try await run(by: .turns) { replicated, phones in
            for round in 1...2 {
                let change = try await replicated.approvedChange(until: 180 - Int64(round))
                try await replicated.publish(change, on: replicated.replicas[round])
                try await replicated.follow()
                let count = phones.refusals.count
                // Each of them is through with what it was doing.
                let asked = phones.count
                try await eventually("they go on asking") { phones.count >= asked + 12 }
                let after = phones.refusals.dropFirst(count)
                #expect(after.count <= 6, "\(after)")
            }
            for refusal in phones.refusals {
                #expect(
                    // An older timestamp, a file that is not there yet, and an older document of a trust server.
                    ["or later, found", "expected the file", "a document of"].contains { refusal.contains($0) },
                    "\(refusal)")
            }
        }
    }
}
