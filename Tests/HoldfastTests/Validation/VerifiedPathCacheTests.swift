import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("The cache of verified paths", .timeLimit(.minutes(15)))
struct VerifiedPathCacheTests {
    /// A monotonic clock that a test moves.
    private final class Ticks: Sendable {
        private let offset = Lock(Duration.zero)
        private let start = ContinuousClock.now
        func advance(by duration: Duration) { offset.withLock { $0 += duration } }
        var now: ContinuousClock.Instant { start.advanced(by: offset.withLock { $0 }) }
    }

    private let ticks = Ticks()
    private let root: TestAuthority
    private let leaf: TestCertificate

    init() throws {
        root = try Judge.root()
        leaf = try root.intermediate().leaf(names: ["www.example.com", "a.example", "192.0.2.1"])
    }

    private func makeCache(capacity: Int = 512) -> VerifiedPathCache {
        VerifiedPathCache(capacity: capacity) { [ticks] in ticks.now }
    }

    private func wasCached(
        _ cache: VerifiedPathCache, _ chain: [[UInt8]], anchors: [[UInt8]], purpose: ValidationPurpose,
        at time: Date = Judge.now, limits: ValidationLimits = ValidationLimits(),
        accepting: (ValidatedPath) -> Bool = { _ in true }
    ) throws -> Bool {
        let validator = PathValidator(anchors: try TrustAnchors(der: anchors), limits: limits, cache: cache)
        let outcome = validator.validate(PresentedChain(chain), for: purpose, at: time, accepting: accepting)
        if outcome.effort.usedCachedPath { #expect(outcome.effort.signatures == 0) }
        return outcome.effort.usedCachedPath
    }

    private func purpose(_ host: String) throws -> ValidationPurpose { .server(identity: try DialedHost(host)) }

    @Test("A second validation of the same question is answered from it")
    func hit() throws {
        let cache = makeCache()
        let www = try purpose("www.example.com")
        #expect(try !wasCached(cache, leaf.chain, anchors: [root.root], purpose: www))
        #expect(try wasCached(cache, leaf.chain, anchors: [root.root], purpose: www))
        #expect(cache.count == 1)
        cache.removeAll()
        #expect(try !wasCached(cache, leaf.chain, anchors: [root.root], purpose: www))
    }

    @Test("Any other question is not")
    func misses() throws {
        let cache = makeCache()
        let www = try purpose("www.example.com")
        let both = try root.leaf(names: ["www.example.com"], purposes: [.serverAuthentication, .clientAuthentication])
        _ = try wasCached(cache, both.chain, anchors: [root.root], purpose: www)
        #expect(try wasCached(cache, both.chain, anchors: [root.root], purpose: www))
        for purpose in [.client, .server(identity: nil), try purpose("a.example")] as [ValidationPurpose] {
            #expect(try !wasCached(cache, both.chain, anchors: [root.root], purpose: purpose))
        }
        #expect(try !wasCached(cache, both.chain + [both.der], anchors: [root.root], purpose: www))
        #expect(try !wasCached(cache, both.chain + [[]], anchors: [root.root], purpose: www))
        #expect(try !wasCached(cache, both.chain, anchors: [root.root, Judge.root().root], purpose: www))
        for path in [
            \ValidationLimits.intermediates, \.signatures, \.signatureWork, \.steps, \.nameConstraintComparisons,
            \.presentedCertificates, \.presentedBytes,
        ] {
            var limits = ValidationLimits()
            limits[keyPath: path] += 1
            #expect(try !wasCached(cache, both.chain, anchors: [root.root], purpose: www, limits: limits))
        }
        _ = try wasCached(cache, leaf.chain + [[1], [2]], anchors: [root.root], purpose: www)
        #expect(try !wasCached(cache, leaf.chain + [[2], [1]], anchors: [root.root], purpose: www))
        #expect(try !wasCached(cache, leaf.chain + [[1, 2], []], anchors: [root.root], purpose: www))
        #expect(try wasCached(cache, leaf.chain + [[1], [2]], anchors: [root.root], purpose: www))
    }

    @Test("The order of the anchors makes no other question, the port of the host neither")
    func sameQuestion() throws {
        let cache = makeCache()
        let other = try Judge.root("Other").root
        _ = try wasCached(cache, leaf.chain, anchors: [root.root, other], purpose: try purpose("www.example.com"))
        #expect(try wasCached(cache, leaf.chain, anchors: [other, root.root], purpose: try purpose("www.example.com")))
        let port = ValidationPurpose.server(identity: try DialedHost("www.example.com", port: 443))
        #expect(try wasCached(cache, leaf.chain, anchors: [other, root.root], purpose: port))
    }

    @Test("A path is remembered for its list of public suffixes, and found again under one that says the same")
    func publicSuffixes() throws {
        let cache = makeCache()
        func wasCached(_ list: String?) throws -> Bool {
            let suffixes = try list.map { text throws(HostPatternError) in try PublicSuffixList(text) }
            let validator = PathValidator(
                anchors: try TrustAnchors(der: [root.root]), profile: .strict, publicSuffixes: suffixes, cache: cache)
            let outcome = validator.validate(
                PresentedChain(leaf.chain), for: try purpose("www.example.com"), at: Judge.now
            ) { _ in true }
            #expect(outcome.path != nil)
            return outcome.effort.usedCachedPath
        }
        for list in [nil, "com", "*.com", "!a.com", "com\nco.uk", ""] { #expect(try !wasCached(list)) }
        for list in [nil, "com", "*.com", "!a.com", "co.uk\n// the same\ncom", ""] { #expect(try wasCached(list)) }
    }

    @Test("A path is remembered for five minutes, whatever the wall clock does")
    func lifetime() throws {
        let cache = makeCache()
        let www = try purpose("www.example.com")
        _ = try wasCached(cache, leaf.chain, anchors: [root.root], purpose: www)
        ticks.advance(by: .seconds(300))
        #expect(try wasCached(cache, leaf.chain, anchors: [root.root], purpose: www, at: Judge.now + 3_600))
        ticks.advance(by: .nanoseconds(1))
        #expect(try !wasCached(cache, leaf.chain, anchors: [root.root], purpose: www))
        // That one was remembered again.
        ticks.advance(by: .seconds(300))
        #expect(try wasCached(cache, leaf.chain, anchors: [root.root], purpose: www))
    }

    @Test("A path is not remembered beyond the validity of any certificate on it")
    func validity() throws {
        let cache = makeCache()
        let www = try purpose("www.example.com")
        let short = try root.intermediate {
            $0.notAfter = .after(.seconds(60)); $0.notBefore = .after(.seconds(-60))
        }.leaf(names: ["www.example.com"])
        _ = try wasCached(cache, short.chain, anchors: [root.root], purpose: www)
        for (offset, isCached) in [(60.0, true), (60.5, true), (61, false), (-60, true), (-61, false), (.nan, false)] {
            let time = Date(timeIntervalSince1970: Judge.now.timeIntervalSince1970 + offset)
            #expect(
                try wasCached(cache, short.chain, anchors: [root.root], purpose: www, at: time) == isCached, "\(offset)"
            )
        }
    }

    @Test("Failures are not kept, and pins are judged each time")
    func failures() throws {
        let cache = makeCache()
        _ = try wasCached(cache, leaf.chain, anchors: [root.root], purpose: try purpose("evil.example"))
        _ = try wasCached(cache, leaf.chain, anchors: [root.root], purpose: try purpose("www.example.com")) { _ in false
        }
        #expect(cache.count == 0)
        let www = try purpose("www.example.com")
        _ = try wasCached(cache, leaf.chain, anchors: [root.root], purpose: www)
        var asked = 0
        #expect(
            try wasCached(cache, leaf.chain, anchors: [root.root], purpose: www) { _ in
                asked += 1
                return true
            })
        #expect(asked == 1)
        #expect(try !wasCached(cache, leaf.chain, anchors: [root.root], purpose: www) { _ in false })
    }

    @Test("The oldest path goes when there are too many")
    func capacity() throws {
        let cache = makeCache(capacity: 3)
        let www = try purpose("www.example.com")
        func ask(_ number: UInt8) throws -> Bool {
            try wasCached(cache, leaf.chain + [[number]], anchors: [root.root], purpose: www)
        }
        for number in 0..<4 as Range<UInt8> { #expect(try !ask(number)) }
        #expect(cache.count == 3)
        #expect(try ask(1) && ask(2) && ask(3))
        #expect(try !ask(0))
        #expect(try !ask(1))
        for capacity in [0, -5] {
            #expect(try !wasCached(makeCache(capacity: capacity), leaf.chain, anchors: [root.root], purpose: www))
        }
    }

    @Test("Many threads may use it")
    func threads() async throws {
        let cache = VerifiedPathCache(capacity: 4)
        let (root, leaf) = (root, leaf)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 as Range<UInt8> {
                group.addTask {
                    let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]), cache: cache)
                    let purpose = ValidationPurpose.server(identity: try DialedHost("www.example.com"))
                    let chain = PresentedChain(leaf.chain + [[number % 8]])
                    #expect(validator.validate(chain, for: purpose, at: Judge.now) { _ in true }.path != nil)
                }
            }
            try await group.waitForAll()
        }
        #expect(cache.count <= 4)
    }
}
