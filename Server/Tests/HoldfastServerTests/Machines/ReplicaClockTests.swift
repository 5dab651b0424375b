import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Three machines of which two have clocks that are wrong.
@Suite(
    "serve on several machines, with a wrong clock", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL, .faketime))
struct ReplicaClockTests {
    private static let trouble = "signing and evaluating: clock"

    @Test("Machines a year and two minutes ahead sign and judge nothing and say so; the third one goes on")
    func wrong() async throws {
        try await ReplicaSite.run(on: try await StorageKind.postgresql.address()) { replicated in
            let (good, ahead, slightly) = (
                replicated.replicas[0], replicated.replicas[1], replicated.replicas[2]
            )
            let first = try await replicated.approvedChange(until: 180)
            try await good.start()
            try await replicated.publish(first, on: good)
            try await replicated.follow()
            for (replica, shift) in [(ahead, "+366d"), (slightly, "+120s")] { try await isMute(replica, shift) }

            // A publication, whichever machine an operator is on.
            let change = try await replicated.approvedChange(until: 170)
            let count = try await length(replicated)
            let refused = try ServingProcess(
                WrongClock.wrapper + [
                    ServerProgram.url.path, "publish", "\(change)", "--data", ahead.server.url.path,
                ], environment: try WrongClock.shifted("+366d"))
            defer { WrongClock.clean(refused) }
            #expect(await refused.status() == 3)
            try await refused.says("clock")
            #expect(try await length(replicated) == count)
            #expect(try await replicated.publish(change, on: good) == 2)

            // They also serve documents of others, and do not answer challenges. Timers stand still under
            // faketime, so each is started again.
            let newest = try await replicated.newest()
            for (replica, shift) in [(ahead, "+366d"), (slightly, "+120s")] {
                await replica.kill()
                try await isMute(replica, shift)
                #expect(await replica.digest(of: "lists/bank.json") == newest["lists/bank.json"])
            }
            try await replicated.everybodyFollows(good.port, from: good)
            for entry in try await entries(replicated) {
                let lead = entry.time - replicated.site.now
                #expect((-600...1).contains(lead), "\(entry.event) \(lead) s from now")
            }

            // With its clock right it is one of them.
            await ahead.kill()
            try await ahead.start()
            try await replicated.follow([ahead])
            try await replicated.everybodyFollows(ahead.port, from: ahead)
        }
    }

    /// Starts a machine with a clock that is wrong, which says so, and signs nothing.
    private func isMute(_ replica: Replica, _ shift: String) async throws {
        let process = try await replica.start(
            wrappedBy: WrongClock.wrapper, environment: try WrongClock.shifted(shift))
        defer { WrongClock.clean(process) }
        try await process.says(Self.trouble)
        try await WrongClockTests.isMute(replica.port)
    }

    /// How many entries the audit has.
    private func length(_ replicated: ReplicaSite) async throws -> Int64 {
        _ = try await replicated.site.open.catalog.now()
        return replicated.site.open.catalog.ledger.chain.head.count
    }

    private func entries(_ replicated: ReplicaSite) async throws -> [AuditEntry] {
        try await replicated.site.open.catalog.audit(after: -1, limit: 1_000).map { try AuditEntry($0) }
    }
}
