import HoldfastProbe
import NIOCore
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerStore

@Suite("What may be signed for strangers")
struct SigningBudgetTests {
    private static let second: UInt64 = 1_000_000_000

    private func source(_ number: Int) throws -> SourcePrefix {
        SourcePrefix(try #require(IPAddress(octets: [10, UInt8(number >> 8 & 255), UInt8(number & 255), 1])))
    }

    @Test("A source has its rate and what it saved, and is told how long to wait")
    func rate() throws {
        var buckets = TokenBuckets<SourcePrefix>(rate: 10, burst: 20)
        let one = try source(1)
        for _ in 0..<20 { #expect(buckets.take(one, at: 0) == nil) }
        let refusal = buckets.take(one, at: 0)
        let wait = try #require(refusal)
        #expect(wait > 0.09 && wait < 0.11)
        #expect(buckets.take(one, at: Self.second / 10) == nil)
        #expect(buckets.take(one, at: Self.second / 10) != nil)
        #expect(try buckets.take(source(2), at: 0) == nil)
        // A clock that went back gives nothing.
        #expect(buckets.take(one, at: 0) != nil)
        for _ in 0..<20 { #expect(buckets.take(one, at: 100 * Self.second) == nil) }
        #expect(buckets.take(one, at: 100 * Self.second) != nil)
    }

    @Test("The memory for sources is bounded, and forgets the sources that were not heard of")
    func memory() throws {
        var buckets = TokenBuckets<SourcePrefix>(rate: 0.001, burst: 1, maximumCount: 100)
        let steady = try source(60_000)
        #expect(buckets.take(steady, at: 0) == nil)
        for number in 0..<5_000 {
            _ = try buckets.take(source(number), at: 0)
            #expect(buckets.count <= 200)
            // A source that keeps asking is remembered.
            if number % 50 == 0 { #expect(buckets.take(steady, at: 0) != nil) }
        }
    }

    @Test("An app that asks for everything leaves the others their share")
    func shares() throws {
        var shares = AppShares(ceiling: 1_000)
        let (greedy, modest) = (try AppName("greedy"), try AppName("modest"))
        var answered: [AppName: Int] = [:]
        for window in 0..<20 {
            let now = UInt64(window + 100) * AppShares.window
            // The greedy one is always first.
            for _ in 0..<5_000 where shares.take(greedy, at: now) { answered[greedy, default: 0] += 1 }
            for _ in 0..<30 where shares.take(modest, at: now) { answered[modest, default: 0] += 1 }
        }
        // In the first window, which has a second's worth, neither app knew of the other.
        let (few, many) = (try #require(answered[modest]), try #require(answered[greedy]))
        #expect(few == 19 * 30)
        #expect(many >= 1_000 + 19 * 50 && few + many <= 1_000 + 19 * 100)
    }

    @Test("An app that nobody asked for a moment ago is answered beside one that asks for little")
    func newcomer() throws {
        var shares = AppShares(ceiling: 1_000)
        let (known, new) = (try AppName("known"), try AppName("new"))
        for window: UInt64 in 100..<103 {
            let now = window * AppShares.window
            #expect((0..<4).count { _ in shares.take(known, at: now) } == 4)
            guard window == 102 else { continue }
            let isAnswered = shares.take(new, at: now)
            #expect(isAnswered)
        }
    }

    @Test("What an app does not use is there for others, and the ceiling holds")
    func spare() throws {
        var shares = AppShares(ceiling: 1_000)
        let apps = try (0..<4).map { try AppName("app-\($0)") }
        var generator = SeededGenerator(seed: 4)
        var sum = 0
        for window in 0..<200 {
            let now = UInt64(window + 100) * AppShares.window
            var total = 0
            for _ in 0..<300 {
                let app = apps[Int.random(in: 0..<4, using: &generator)]
                if shares.take(app, at: now) { total += 1 }
            }
            sum += total
            #expect(sum <= 1_000 + 100 * window)
            #expect(total > 90)
        }
        // After a silence one app has everything.
        let later = 1_000 * AppShares.window
        #expect((0..<3_000).count { _ in shares.take(apps[0], at: later) } == 1_000)
    }

    @Test(
        "Of 1,000 sources that ask once nobody is refused, although one asks for ten times what there is, before each")
    func fair() throws {
        let ceiling = 400
        let budget = SigningBudget(ceiling: Double(ceiling))
        let (app, greedy) = (try AppName("bank"), try source(60_000))
        var (served, taken) = (0, 0)
        // The others need half of what there is: one in five milliseconds, in which the greedy one asks twenty times.
        for number in 0..<1_000 {
            let now = 100 * Self.second + UInt64(number) * 5_000_000
            for _ in 0..<20 where budget.take(app, for: greedy, at: now) == nil { taken += 1 }
            if try budget.take(app, for: source(number), at: now) == nil { served += 1 }
        }
        #expect(served == 1_000)
        // An eighth of what there is in five seconds, and what it had saved.
        #expect(taken <= ceiling / 8 * 5 + 20 && taken >= ceiling / 8 * 4)
    }

    @Test(
        "Over sockets: behind a trusted proxy each client has a rate of its own, and nobody else's word makes another source"
    )
    func forwarded() async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        // At once, so that no source saves anything in between.
        let requests = ["192.0.2.1", "198.51.100.1", "192.0.2.200"].map { client in
            "GET /app/init?appName=bank HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\n"
                + "X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw==\r\n"
        }
        let batch = requests.dropLast().map { "\($0)\r\n" }.joined() + "\(requests[2])Connection: close\r\n\r\n"
        for (block, expected) in [("127.0.0.0/8", [200, 200, 503]), ("10.0.0.0/8", [200, 503])] {
            var settings = try ListenerSettings(port: 0, proxies: TrustedProxies([try AddressBlock(block)]))
            settings.limits.pause = .milliseconds(1)
            try await site.listening(settings, ceiling: 8) { port in
                let text = try await RawClient(port: port).exchange(batch)
                let statuses = text.matches(of: /HTTP\/1\.1 ([0-9]{3})/).compactMap { Int($0.1) }
                #expect(Array(statuses.prefix(expected.count)) == expected, "\(block): \(text)")
            }
        }
    }

    @Test("The ceiling is measured, and never so low that nothing is signed")
    func ceiling() {
        #expect(SigningBudget.measuredCeiling(threads: 2, within: .milliseconds(5)) >= 8)
        #expect(SigningBudget(ceiling: 0).ceiling == 8)
    }
}
