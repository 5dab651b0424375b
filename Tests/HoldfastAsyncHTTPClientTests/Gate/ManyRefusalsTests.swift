#if os(Linux)
import AsyncHTTPClient
import Foundation
import Holdfast
@testable import HoldfastAsyncHTTPClient
import HoldfastTesting
import NIOCore
import Testing

@Suite("A thousand refusals in a row", .timeLimit(.minutes(15)))
struct ManyRefusalsTests {
    @Test("leave the process as it was: no sockets, no memory, nothing kept")
    func refusals() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
        try await withOrigin(try setting.leaf()) { origin in
            // A machine that is slow by a hundred times must not make the pool connect again.
            try await setting.withClient({ $0.timeout.connect = .minutes(10) }) { client in
                func refuse(_ count: Int) async throws {
                    for _ in 0..<count {
                        let failure = await client.refusal(origin.url())
                        guard failure?.code == .pinMismatch else { throw ChannelError.eof }
                    }
                    // Both the pool's connections and those for evidence.
                    try await origin.waitForDisconnection()
                }
                try await refuse(100)
                var leastGrowth = Int.max
                for _ in 0..<9 {
                    let before = try Self.residentBytes()
                    try await refuse(100)
                    leastGrowth = min(leastGrowth, try Self.residentBytes() - before)
                }
                #expect(origin.counters.accepted == 2_000)
                #expect(origin.counters.plaintextBytes == 0)
                #expect(client.evidence.count == 0)
                #expect(client.clients.all.count == 1)
                #expect(client.clients.all.first?.gate.connectionCount == 0)
                // A connection with its TLS takes about 100 kB. What is kept grows in every round; other tests, which run
                // beside this one, in some.
                #expect(leastGrowth < 6_000_000, "grew by \(leastGrowth) bytes and more each time")
                try setting.trust("www.example.com")
                try await client.expectAnswer(origin.url())
            }
        }
    }

    private static func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4_096
    }
}
#endif
