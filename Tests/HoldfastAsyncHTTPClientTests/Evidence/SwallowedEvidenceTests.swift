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
    private func collector(port: Int, timeout: TimeAmount) throws -> EvidenceCollector {
        try EvidenceCollector(
            host: DialedHost("www.example.com"), configuration: .makeClientConfiguration(), oldestTLSVersion: .tlsv12,
            route: .init(target: "127.0.0.1", port: port, proxy: nil, localAddress: nil), timeout: timeout, tries: 4)
    }

    private static let loops = MultiThreadedEventLoopGroup.singleton

    @Test("keeps none of the requests that wait for it from their answer", arguments: [[1], [1, 2]] as [Set<Int>])
    func another(swallowed: Set<Int>) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            try await DelayingRelay.with(to: origin.port, .init(swallowed: swallowed)) { relay in
                let collector = try collector(port: relay.port, timeout: .seconds(8))
                try await withThrowingTaskGroup(of: PresentedChain.self) { group in
                    for _ in 0..<4 {
                        group.addTask { try await collector.chain(with: leaf.der, on: Self.loops.any()).get() }
                    }
                    for try await chain in group { #expect(chain.leaf == leaf.der) }
                }
                #expect(collector.handshakes == 1)
                #expect(collector.connections == swallowed.count + 1)
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
