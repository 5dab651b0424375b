import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@Suite("Connections while policies change", .timeLimit(.minutes(15)))
struct PolicyRaceTests {
    /// A connection, and which policies were gone when it was begun.
    private struct Seen: Sendable {
        let gone: Set<Pin>
        let attempt: ClientAttempt
    }

    private final class Progress: Sendable {
        let isOver = Lock(false)
    }

    @concurrent
    private static func change(
        _ manager: TrustManager, _ host: String, _ ledger: PolicyLedger, until progress: Progress
    ) async throws {
        while !progress.isOver.withLock({ $0 }) {
            for step in try ledger.steps(of: manager, host: host) {
                step()
                let next = ledger.decisions + 2
                try await waitUntil { ledger.decisions >= next || progress.isOver.withLock({ $0 }) }
            }
        }
    }

    @concurrent
    private static func connect(
        _ client: PinnedTLSClient, _ server: LoopbackTLSServer, on group: any EventLoopGroup, _ ledger: PolicyLedger
    ) async throws -> [Seen] {
        var made: [Seen] = []
        for _ in 0..<10 {
            let gone = ledger.gone
            let attempt = try await ClientAttempt.make(client, address: server.address, port: server.port, on: group)
            made.append(Seen(gone: gone, attempt: attempt))
        }
        return made
    }

    @Test("Eight threads connect while policies come, go and get stricter: one policy decides, and none that is gone")
    func eightThreads() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let host = "www.example.com"
        let ledger = PolicyLedger(leafPin: try leaf.publicKeyPin())
        let manager = TrustManager()
        let objections = Lock<[String]>([])
        let client = try setting.client(
            for: host,
            trust: .custom { trust, time in
                let gone = ledger.gone
                let decision = manager.evaluate(trust, at: time)
                if let objection = ledger.objection(to: decision, afterwardsTo: gone) {
                    objections.withLock { $0.append(objection) }
                }
                return decision
            })
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 8)
        let progress = Progress()
        let attempts = try await withLoopbackTLSServer(serving: leaf) { server in
            async let changes: Void = Self.change(manager, host, ledger, until: progress)
            let attempts = try await withThrowingTaskGroup(of: [Seen].self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask { try await Self.connect(client, server, on: group, ledger) }
                }
                var all: [Seen] = []
                while let made = try await tasks.next() { all += made }
                return all
            }
            progress.isOver.withLock { $0 = true }
            try await changes
            return attempts
        }
        try await group.shutdownGracefully()
        #expect(objections.withLock { $0 } == [])
        #expect(attempts.count == 80)
        for seen in attempts {
            let attempt = seen.attempt
            let decision = try attempt.decision.get()
            #expect(ledger.objection(to: decision, afterwardsTo: seen.gone) == nil)
            // The decision agrees with the data that passed.
            #expect(attempt.received == (decision.isTrusted ? ClientAttempt.greeting : ""))
            #expect((attempt.writeError == nil) == decision.isTrusted)
        }
    }
}
