import AsyncHTTPClient
import Holdfast
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A connection of evidence that is swallowed", .timeLimit(.minutes(15)))
struct SwallowedEvidenceTests {
    private func collector(
        port: Int, timeout: TimeAmount, timers: ManualTimers? = nil
    ) throws -> EvidenceCollector {
        let (host, route) = (
            try DialedHost("www.example.com"),
            EvidenceCollector.Route(target: "127.0.0.1", port: port, proxy: nil, localAddress: nil)
        )
        guard let timers else {
            return try EvidenceCollector(
                host: host, configuration: .makeClientConfiguration(), oldestTLSVersion: .tlsv12, route: route,
                timeout: timeout, tries: 4)
        }
        return try EvidenceCollector(
            host: host, configuration: .makeClientConfiguration(), oldestTLSVersion: .tlsv12, route: route,
            timeout: timeout, tries: 4, timer: { timers.set(on: $0, after: $1, $2) })
    }

    /// Timers that fire when the test says so.
    private final class ManualTimers: Sendable {
        private let (bodies, added) = AsyncStream<@Sendable () -> Void>.makeStream()
        private let state = Lock((pauses: [TimeAmount](), canceled: 0))

        var pauses: [TimeAmount] { state.withLock { $0.pauses } }
        var canceled: Int { state.withLock { $0.canceled } }

        func set(
            on loop: any EventLoop, after pause: TimeAmount, _ body: @escaping @Sendable () -> Void
        ) -> @Sendable () -> Void {
            state.withLock { $0.pauses.append(pause) }
            added.yield { loop.execute(body) }
            return { [self] in state.withLock { $0.canceled += 1 } }
        }

        /// Waits until this many have been set, and fires them.
        func fire(_ count: Int) async {
            for await body in bodies.prefix(count) { body() }
        }
    }

    private static let loops = MultiThreadedEventLoopGroup.singleton

    @Test("keeps none of the requests that wait for it from their answer", arguments: [[1], [1, 2]] as [Set<Int>])
    func another(swallowed: Set<Int>) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            try await DelayingRelay.with(to: origin.port, .init(swallowed: swallowed)) { relay in
                let timers = ManualTimers()
                let collector = try collector(port: relay.port, timeout: .hours(1), timers: timers)
                // All wait for the one handshake: until a timer fires, its only connection is a swallowed one.
                let loop = Self.loops.next()
                let chains = ([loop] + (0..<3).map { _ in Self.loops.any() })
                    .map { collector.chain(with: leaf.der, on: $0) }
                await timers.fire(swallowed.count)
                for chain in chains { #expect(try await chain.get().leaf == leaf.der) }
                #expect(collector.handshakes == 1)
                #expect(collector.connections == swallowed.count + 1)
                // The end of the handshake, which is on its loop, cancels all timers, whether they have fired or not.
                try await loop.submit {}.get()
                #expect(timers.pauses == [.seconds(5), .seconds(10)] && timers.canceled == 2)
            }
        }
    }

    @Test("is one of three; where all are, the time is up when it was before")
    func all() async throws {
        let setting = try HTTPSetting()
        try await withOrigin(try setting.leaf()) { origin in
            try await DelayingRelay.with(to: origin.port, .init(swallowed: Set(1...9))) { relay in
                let collector = try collector(port: relay.port, timeout: .milliseconds(400))
                do {
                    _ = try await collector.chain(on: Self.loops.any()).get()
                    Issue.record("answered")
                } catch {
                    #expect((error as? PinnedHTTPClientError)?.code == .evidenceTimedOut)
                }
                #expect(collector.connections == 3 && relay.connections <= 3)
            }
        }
    }

    @Test("is not taken for one that is refused: that is an answer, at once")
    func refused() async throws {
        let listener = try await ServerBootstrap(group: Self.loops).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        try await listener.close().get()
        let collector = try collector(port: port, timeout: .minutes(5))
        await #expect(throws: (any Error).self) { _ = try await collector.chain(on: Self.loops.any()).get() }
        #expect(collector.connections == 1)
    }
}
