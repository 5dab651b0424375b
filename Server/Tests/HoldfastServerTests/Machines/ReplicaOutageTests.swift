import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

/// Three machines of which one reaches the database directly, one through a connection that fails, and one through
/// pgbouncer.
@Suite(
    "serve on several machines, with a database that fails", .timeLimit(.minutes(10)),
    .needs(.pgBouncer))
struct ReplicaOutageTests {
    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    private func run(
        _ body: (ReplicaSite, PostgresServer, PostgresProxy) async throws -> Void
    ) async throws {
        try await PostgresServer.run { postgres in
            try await PgBouncer.run(before: postgres) { bouncer in
                try await PostgresProxy.run(before: postgres.port) { proxy in
                    let name = try await postgres.database()
                    var machines = [ReplicaSite.Machine](repeating: .usual, count: 3)
                    machines[1].database = try postgres.address(name, port: proxy.port)
                    machines[2].database = try postgres.address(name, port: bouncer.port)
                    try await ReplicaSite.run(on: try postgres.address(name), machines) { replicated in
                        let first = try await replicated.approvedChange(until: 180)
                        try await replicated.start()
                        try await replicated.publish(first, on: replicated.replicas[0])
                        try await replicated.follow()
                        try await body(replicated, postgres, proxy)
                    }
                }
            }
        }
    }

    /// Documents and challenge answers are there, whatever has become of the database.
    private func isServed(_ replicated: ReplicaSite, _ known: [String: ServerFoundation.Digest]) async throws {
        for replica in replicated.replicas {
            #expect(await replica.digest(of: "lists/bank.json") == known["lists/bank.json"])
            let answer = try await replica.get("/app/init?appName=bank", Self.challenge)
            #expect(answer.status == 200, "machine \(replica.number): \(answer.text)")
        }
    }

    @Test("After the database stopped at once, every machine serves on, and all go on by themselves once it is back")
    func stopped() async throws {
        try await run { replicated, postgres, _ in
            let known = try await replicated.newest()
            await postgres.stop(SIGQUIT)
            for replica in replicated.replicas {
                try #require(replica.running != nil)
                try await replica.running?.says("unreachableDatabase")
            }
            try await isServed(replicated, known)
            let counts = replicated.replicas.map { $0.text.utf8.count }
            try await postgres.start()
            for (replica, count) in zip(replicated.replicas, counts) {
                try await replica.running?.says("works again", after: count)
            }
            // Each can publish, and each hears of it.
            for (index, replica) in replicated.replicas.enumerated() {
                let change = try await replicated.approvedChange(until: 170 - Int64(index))
                #expect(try await replicated.publish(change, on: replica) == Int64(index) + 2)
                try await replicated.follow()
            }
            for replica in replicated.replicas {
                try await replicated.everybodyFollows(replica.port, from: replica)
                #expect(await replica.stop() == 0)
            }
        }
    }

    @Test(
        "A machine whose connection loses bytes, is cut or hangs serves on, holds up nobody, and comes back by itself",
        arguments: [PostgresProxy.Fault.losesBytes, .closed, .losesAnswer])
    func cutOff(_ fault: PostgresProxy.Fault) async throws {
        try await run { replicated, _, proxy in
            let (far, known) = (replicated.replicas[1], try await replicated.newest())
            proxy.set(fault)
            if fault == .closed { proxy.cut() }
            let change = try await replicated.approvedChange(until: 170)
            #expect(try await replicated.publish(change, on: replicated.replicas[2]) == 2)
            try await replicated.follow([replicated.replicas[0], replicated.replicas[2]])
            if fault != .losesAnswer {
                #expect(await far.digest(of: "lists/bank.json") == known["lists/bank.json"])
                let answer = try await far.get("/app/init?appName=bank", Self.challenge)
                #expect(answer.status == 200, "\(answer.text)")
            }
            if fault == .closed {
                // It did not execute a command from that time, and reports this.
                let own = try await replicated.approvedChange(until: 160)
                let (status, output) = try await far.command(
                    "publish", "\(own)", "--database",
                    try #require(replicated.site.server.databaseAddress()).replacing(port: proxy.port))
                #expect(status == 3 && !output.contains("published: generation"), "\(output)")
            }
            proxy.set(.nothing)
            try await replicated.follow([far], within: ServingProcess.usualLimit)
            let last = try await replicated.approvedChange(until: 150)
            #expect(try await replicated.publish(last, on: far) == 3)
            try await replicated.follow()
            try await replicated.everybodyFollows(far.port, from: far)
            _ = try await replicated.signed()
        }
    }
}

extension PostgreSQLAddress {
    /// The text of the same database at another port of loopback.
    func replacing(port: Int) -> String {
        "postgresql://holdfast@127.0.0.1:\(port)/\(parameters["dbname"] ?? "")"
    }
}
