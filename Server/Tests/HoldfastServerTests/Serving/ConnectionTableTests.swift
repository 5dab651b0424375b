import HoldfastProbe
import Synchronization
import Testing

@testable import ServerFoundation
@testable import ServerHTTP

@Suite("The table of connections")
struct ConnectionTableTests {
    private static func prefix(_ text: String) throws -> SourcePrefix { SourcePrefix(try IPAddress(text)) }

    private static func second(_ number: UInt64) -> UInt64 { number * 1_000_000_000 }

    private func table(_ connections: Int, perSource: Int) -> ConnectionTable {
        var limits = ListenerLimits()
        (limits.connections, limits.connectionsPerSource) = (connections, perSource)
        return ConnectionTable(limits, speaksTLS: false, ListenerCounters())
    }

    @Test("A /48 has a quarter of all connections, and a /32 half, however many prefixes they have")
    func networks() throws {
        let table = table(1_024, perSource: 64)
        func taken(_ source: (Int) -> String) throws -> Int {
            try (0..<4_096).count { try table.open(Self.prefix(source($0)), isProxy: false, at: 0) != nil }
        }
        func hex(_ number: Int) -> String { String(number, radix: 16) }
        #expect(try taken { "2001:db8:1:\(hex($0 % 256))00::1" } == 256)
        #expect(try taken { "2001:db8:\(hex($0)):100::1" } == 256)
        #expect(try taken { "2001:db9:\(hex($0)):100::1" } == 512)
        // Now all are taken.
        #expect(try taken { "2001:dba:\(hex($0)):100::1" } == 0)
    }

    @Test("When all are taken, the oldest of the fullest network ends for another, and none that is younger than 5 s")
    func eviction() throws {
        let table = table(16, perSource: 8)
        let evicted = Mutex<[String]>([])
        func open(_ address: String, _ name: String, at second: UInt64, isProxy: Bool = false) throws
            -> ConnectionTable.Ticket?
        {
            table.open(try Self.prefix(address), isProxy: isProxy, at: Self.second(second)) {
                evicted.withLock { $0.append(name) }
            }
        }
        // Two sources have nearly everything, and one honest connection is older than all of theirs.
        let honest = try #require(try open("192.0.2.1", "honest", at: 1))
        for number in 0..<8 { #expect(try open("198.51.100.1", "a\(number)", at: 2) != nil) }
        for number in 0..<6 { #expect(try open("203.0.113.1", "b\(number)", at: 3) != nil) }
        #expect(try open("10.0.0.1", "proxy", at: 0, isProxy: true) != nil)
        #expect(try open("192.0.2.99", "early", at: 5) == nil, "nothing but the proxy's is old enough")
        #expect(evicted.withLock { $0 } == [])
        #expect(try open("192.0.2.99", "other", at: 7) != nil)
        #expect(evicted.withLock { $0 } == ["a0"])
        // As long as they are the fullest.
        for number in 0..<3 { #expect(try open("192.0.\(number + 3).1", "c\(number)", at: 8) != nil) }
        #expect(evicted.withLock { $0 } == ["a0", "a1", "a2", "b0"])
        table.close(honest)
        #expect(try open("192.0.9.1", "free", at: 8) != nil)
        #expect(evicted.withLock { $0.count } == 4)
    }

    @Test("Whoever closes what was evicted takes no place from others")
    func twice() throws {
        let table = table(2, perSource: 2)
        let first = try #require(table.open(try Self.prefix("192.0.2.1"), isProxy: false, at: 0))
        #expect(table.open(try Self.prefix("192.0.2.1"), isProxy: false, at: 0) != nil)
        let later = Self.second(6)
        #expect(table.open(try Self.prefix("198.51.100.1"), isProxy: false, at: later) != nil)
        table.close(first)
        table.close(first)
        // Another one of the first source is still there, and old enough; after it nothing is.
        #expect(table.open(try Self.prefix("203.0.113.1"), isProxy: false, at: later) != nil)
        #expect(table.open(try Self.prefix("203.0.114.1"), isProxy: false, at: later) == nil)
    }
}
