import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Sets of anchors", .timeLimit(.minutes(15)))
struct TrustAnchorsTests {
    @Test("An empty set makes every validation fail")
    func empty() throws {
        let leaf = try Judge.root().leaf(names: ["www.example.com"])
        #expect(try Judge.complaint(leaf.chain, trusting: []) == .noAnchors)
        #expect(TrustAnchors([]).isEmpty)
    }

    @Test("Each anchor counts once, and the order does not count")
    func equality() throws {
        let (one, two) = (try Judge.root().root, try Judge.root("Two").root)
        let anchors = try TrustAnchors(der: [one, two, one])
        #expect(anchors.certificates.map(\.der) == [one, two])
        #expect(try anchors == TrustAnchors(der: [two, one]))
        #expect(try anchors.digest == TrustAnchors(der: [two, one]).digest)
        #expect(try anchors != TrustAnchors(der: [one]))
        #expect(try TrustAnchors(der: [one]) != TrustAnchors([]))
        #expect(try Set([anchors, TrustAnchors(der: [two, one])]).count == 1)
    }

    @Test("A set contains a certificate, not a key or a name")
    func contains() throws {
        let root = try Judge.root()
        let anchors = try TrustAnchors(der: [root.root])
        #expect(try anchors.contains(X509Certificate(der: root.root)))
        let again = try Judge.root(key: .existing(root.certificate.key))
        #expect(try !anchors.contains(X509Certificate(der: again.root)))
    }

    @Test("A file of an authority gives its certificates, in PEM or DER; one without any is an error that names it")
    func file() async throws {
        try await withTemporaryFolder { folder in
            let (one, two) = (try Judge.root(), try Judge.root("Two"))
            let file = folder.appending(path: "authority.pem")
            try Data((one.certificate.pem + two.certificate.pem).utf8).write(to: file)
            #expect(try TrustAnchors(contentsOf: file) == TrustAnchors(der: [one.root, two.root]))
            try Data(one.root).write(to: file)
            #expect(try TrustAnchors(contentsOf: file) == TrustAnchors(der: [one.root]))
            let bad = ["", one.certificate.key.publicKeyPEM, one.certificate.pem + "-----BEGIN CERTIFICATE-----\nAA=="]
            for content in bad {
                try Data(content.utf8).write(to: file)
                let error = #expect(throws: CertificateFileError.self) { try TrustAnchors(contentsOf: file) }
                #expect(error?.file == file.path)
            }
            let missing = folder.appending(path: "none.pem")
            #expect(throws: CertificateFileError.self) { try TrustAnchors(contentsOf: missing) }
        }
    }

    @Test("What cannot be read is an error")
    func unreadable() throws {
        #expect(throws: CertificateError.self) { try TrustAnchors(der: [Judge.root().root, [1]]) }
    }

    @Test("Anchors with names that cannot be compared are found by their octets alone")
    func unreadableNames() throws {
        let broken = HandMadeDER.sequence([5, 0])
        let anchor = try X509Certificate(der: HandMadeDER.certificate(issuer: broken, subject: broken))
        let anchors = TrustAnchors([anchor])
        #expect(anchors.named(anchor.subject) == [anchor])
        #expect(anchor.subject.folded == nil)
    }

    @Test("A store publishes what its source reads, and keeps the old set when that fails")
    func store() async throws {
        let (one, two) = (try TrustAnchors(der: [Judge.root().root]), try TrustAnchors(der: [Judge.root().root]))
        let queue = AnchorQueue([one, one, two, TrustAnchors([]), nil])
        let store = try await TrustAnchorStore { try queue.next() }
        #expect(store.current == one)
        #expect(try await !store.reload())
        #expect(try await store.reload())
        #expect(store.current == two)
        await #expect(throws: TrustAnchorError.self) { try await store.reload() }
        await #expect(throws: DERError.self) { try await store.reload() }
        #expect(store.current == two)
    }

    /// Lets so many be asleep, and cancels the next.
    private struct CountedClock: Clock {
        struct Instant: InstantProtocol {
            var offset = Duration.zero
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        }

        final class Record: Sendable {
            let sleeps = Lock<[Duration]>([])
        }

        let record = Record()
        let count: Int
        var now: Instant { Instant() }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            let number = record.sleeps.withLock { sleeps in
                sleeps.append(deadline.offset)
                return sleeps.count
            }
            guard number <= count else { throw CancellationError() }
        }
    }

    @Test(
        "Anchors are reloaded by the interval, past failures, until it is canceled; no interval is none or for ever",
        arguments: [
            (Duration.seconds(60), Duration.seconds(60)), (.zero, .seconds(1)), (.seconds(-5), .seconds(1)),
            (.seconds(Int64.max), .seconds(366 * 86_400)),
        ])
    func reloadByInterval(interval: Duration, slept: Duration) async throws {
        let (one, two) = (try TrustAnchors(der: [Judge.root().root]), try TrustAnchors(der: [Judge.root().root]))
        let queue = AnchorQueue([one, nil, two])
        let log = RecordingLog()
        let store = try await TrustAnchorStore(logger: log.logger) { try queue.next() }
        let clock = CountedClock(count: 2)
        await store.run(every: interval, clock: clock)
        #expect(store.current == two)
        #expect(clock.record.sleeps.withLock { $0 } == [slept, slept, slept])
        #expect(log.lines.map { $0.prefix { $0 != " " } } == ["error", "info"])
    }
}
