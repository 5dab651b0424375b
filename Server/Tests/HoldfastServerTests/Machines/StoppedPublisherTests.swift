import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A machine that is suspended in the middle of its work, and goes on when another one has done it.
@Suite(
    "A publisher that is stopped, and goes on after another has published", .besidePostgres, .timeLimit(.minutes(10)),
    .needs(.postgreSQL, .program("python3")))
struct StoppedPublisherTests {
    private static let list = "lists/bank.json"

    private func run(
        _ machines: [ReplicaSite.Machine] = [.usual, .usual, .usual], on database: PostgreSQLAddress? = nil,
        _ body: (ReplicaSite) async throws -> Void
    ) async throws {
        let address = if let database { database } else { try await StorageKind.postgresql.address() }
        try await ReplicaSite.run(on: address, machines, body)
    }

    /// A change that publishes a list and nothing that is signed again by itself.
    private func approved(_ days: Int64, _ replicated: ReplicaSite) async throws -> RandomID {
        try await replicated.site.approvedChange(until: days, formats: [ContentFormat(.list, refresh: 3_600)])
    }

    @Test(
        "Stopped before, during and after an upload, with its program: its old turn writes nothing over what is newer",
        arguments: FreezingUploader.Step.allCases, [false, true])
    func upload(_ step: FreezingUploader.Step, byCommand: Bool) async throws {
        try await run { replicated in
            let uploader = try FreezingUploader(in: replicated.site.folder, at: step)
            try await uploader.serving { place in
                try await replicated.site.open.catalog.set(place, of: replicated.site.app, by: "test")
                let first = try await approved(180, replicated)
                var command: ServingProcess?
                if byCommand {
                    // Only the command is there to upload.
                    command = try replicated.replicas[0].starting("publish", "\(first)")
                } else {
                    try await replicated.site.open.publisher.publish(first)
                    try await replicated.start()
                }
                var found: [pid_t] = []
                try await eventually("the program stops itself") {
                    found = uploader.frozen() ?? []
                    return !found.isEmpty
                }
                let stopped = found
                if byCommand {
                    #expect(stopped.last == command?.id)
                    for replica in replicated.replicas[1...] { try await replica.start() }
                }
                let others = replicated.replicas.filter { replica in
                    replica.running.map { !stopped.contains($0.id) } ?? false
                }
                try #require(others.count == 2)
                let old = try await replicated.newest()
                let second = try await approved(170, replicated)
                #expect(try await replicated.publish(second, on: others[0]) == 2)
                try await replicated.follow(others)
                let new = try await replicated.newest()
                // Its turn is over a minute after its program has to end.
                try await eventually(within: .seconds(300), "the place has the newer list") {
                    uploader.digest(of: Self.list) == new[Self.list]
                }

                // It wakes up, and knows of nothing.
                for pid in stopped { _ = kill(pid, SIGCONT) }
                try await eventually("the program ends") { kill(stopped[0], 0) != 0 }
                if let command {
                    #expect(await command.status() == 0)
                    #expect(command.text.contains("published: generation 1"), "\(command.text)")
                    try await replicated.replicas[0].start()
                }
                try await replicated.follow()
                #expect(uploader.digest(of: Self.list) == new[Self.list])
                let puts = try uploader.puts(at: Self.list)
                #expect(puts.last == "\(try #require(new[Self.list]))")
                #expect(puts.count { $0 == "\(old[Self.list].map { "\($0)" } ?? "")" } <= 1)

                // It is one of them again, and can be the next to upload.
                for other in others { await other.stop() }
                let third = try await approved(160, replicated)
                #expect(try await replicated.publish(third, on: replicated.replicas[0]) == 3)
                let newest = try await replicated.newest()
                try await eventually("the place has the newest list") {
                    uploader.digest(of: Self.list) == newest[Self.list]
                }
                try await replicated.follow()
                try await replicated.everybodyFollows()
                _ = try await replicated.signed()
            }
        }
    }

    @Test("Stopped after the gates and before it signs, it finds that another has published, and publishes nothing")
    func judged() async throws {
        try await run { replicated in
            try await replicated.start()
            try await replicated.publish(try await replicated.approvedChange(until: 180), on: replicated.replicas[0])
            let (one, other) = (
                try await replicated.approvedChange(until: 170), try await replicated.approvedChange(until: 160)
            )
            let publishing = try replicated.replicas[0].starting("publish", "\(one)")
            // It prints what the gates said before it asks them once more and signs.
            try await publishing.says("gate outlook")
            publishing.signal(SIGSTOP)
            #expect(try await replicated.publish(other, on: replicated.replicas[1]) == 2)
            publishing.signal(SIGCONT)
            #expect(await publishing.status() == 1)
            #expect(publishing.text.contains("outOfTurn") && !publishing.text.contains("published: generation"))
            try await replicated.follow()
            #expect(replicated.site.open.catalog.ledger.generation(of: replicated.site.app) == 2)
            try await replicated.everybodyFollows(replicated.replicas[2].port, from: replicated.replicas[2])
        }
    }

    @Test(
        "Stopped in its transaction it holds up the others for at most half a minute, and what it wrote is gone afterwards"
    )
    func committing() async throws {
        let postgres = try #require(PostgresServer.current)
        let name = try await postgres.database()
        try await PostgresProxy.run(before: postgres.port) { proxy in
            try await run(on: try postgres.address(name)) { replicated in
                try await replicated.start()
                let first = try await replicated.approvedChange(until: 180)
                try await replicated.publish(first, on: replicated.replicas[0])
                let (one, other) = (
                    try await replicated.approvedChange(until: 170), try await replicated.approvedChange(until: 160)
                )
                proxy.set(.holdsPublication)
                let way = try postgres.address(name, port: proxy.port).withoutPassword
                let publishing = try replicated.replicas[1].starting("publish", "\(one)", "--database", way)
                try await eventually("the commit is on its way: \(publishing.text)") { proxy.holdsOne }
                publishing.signal(SIGSTOP)
                var generation: Int64?
                try await eventually("another one publishes") {
                    let (status, output) = try await replicated.replicas[2].command("publish", "\(other)")
                    if status == 0 { generation = try replicated.generation(in: output) }
                    if status != 0 { #expect(output.contains("lockedDatabase"), "\(output)") }
                    return status == 0
                }
                #expect(generation == 2)
                try await replicated.follow()
                let newest = try await replicated.newest()
                proxy.set(.nothing)
                publishing.signal(SIGCONT)
                #expect(await publishing.status() != 0)
                #expect(!publishing.text.contains("published: generation"), "\(publishing.text)")
                try await replicated.follow()
                #expect(try await replicated.newest()[Self.list] == newest[Self.list])
                #expect(replicated.site.open.catalog.ledger.generation(of: replicated.site.app) == 2)
                _ = try await replicated.signed()
                for replica in replicated.replicas {
                    try await replicated.everybodyFollows(replica.port, from: replica)
                }
            }
        }
    }
}
