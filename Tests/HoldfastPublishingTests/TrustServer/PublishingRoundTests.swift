#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Rounds of a trust server")
struct PublishingRoundTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let leaf: TestCertificate
    private let now = Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded(.down))
    private let a: DialedHost
    private let b: DialedHost

    init() throws {
        root = try TestAuthority.root()
        issuing = try root.intermediate()
        leaf = try issuing.leaf(names: ["a.example.com", "b.example.com"])
        a = try DialedHost("a.example.com", port: 443)
        b = try DialedHost("b.example.com", port: 8443)
    }

    private func path(_ host: DialedHost, trusting anchors: [[UInt8]]? = nil) throws -> ValidatedPath {
        let validator = PathValidator(anchors: try TrustAnchors(der: anchors ?? [root.root]))
        let outcome = validator.validate(
            PresentedChain(leaf.chain), for: .server(identity: host),
            at: now
        ) { _ in true }
        return try #require(outcome.path)
    }

    private func good() throws -> PublishingRound {
        PublishingRound(
            [(a, .validated(try path(a))), (b, .validated(try path(b)))], earlier: [], rules: .init(), at: now)
    }

    @Test("Hosts that were validated are published in the order of the list")
    func allGood() throws {
        let round = try good()
        #expect(round.isPublishable && round.failures.isEmpty)
        #expect(round.hosts.map(\.hostname) == ["a.example.com", "b.example.com"])
        #expect(round.hosts.map(\.port) == [443, 8443])
        #expect(round.remembered.map(\.hostname) == round.hosts.map(\.hostname))
        #expect(round.remembered.allSatisfy { $0.validated == now && $0.publicKeys.map(\.unseen) == [.zero] })
    }

    @Test("What is remembered of a host is written to a row and made again from it; what is no pin or host is refused")
    func stored() throws {
        let host = try #require(try good().remembered.first)
        let json = try host.storedJSON
        #expect(try SeenHost(storedJSON: json) == host && SeenHost(storedJSON: json).storedJSON == json)
        let fingerprint = try #require(host.certificates.first).text
        let text = String(decoding: json, as: UTF8.self)
        for (old, new) in [
            (fingerprint, String(fingerprint.dropLast())), ("a.example.com", "A.example.com"),
            ("\"port\":443", "\"port\":0"),
        ] {
            try #require(text.contains(old))
            #expect(throws: PublishingError.self) {
                try SeenHost(storedJSON: Data(text.replacing(old, with: new).utf8))
            }
        }
    }

    @Test(
        "Of a path are published the leaf, its issuers with the anchor, or all",
        arguments: [(PublishingRound.Included.leaf, 0..<1), (.issuers, 1..<3), (.all, 0..<3)])
    func included(_ included: PublishingRound.Included, range: Range<Int>) throws {
        let path = try path(a)
        let round = PublishingRound(
            [(a, .validated(path))], earlier: [], rules: .init(included: included), at: now)
        let host = try #require(round.hosts.first)
        let expected = path.certificates[range]
        #expect(host.publicKeys == expected.map { Data($0.subjectPublicKeyInfo).base64EncodedString() })
        #expect(
            host.fingerprints.map { "cert-sha256/\($0)" } == expected.map { $0.certificatePin.description })
    }

    @Test("A host without issuers fails where issuers are asked for")
    func noIssuers() throws {
        let round = PublishingRound(
            [(a, .validated(try path(a, trusting: [leaf.der])))], earlier: [], rules: .init(included: .issuers),
            at: now)
        #expect(!round.isPublishable)
        #expect(round.failures.map(\.isUntrusted) == [true])
    }

    @Test("A host that fails keeps its last good entry to the second, and is reported")
    func kept() throws {
        let earlier = try good().remembered
        let keep: TimeInterval = 7 * 86_400
        let cases: [(TimeInterval, Bool)] = [(0, true), (keep, true), (keep + 1, false), (-300, true), (-301, false)]
        for (elapsed, isKept) in cases {
            let time = now + elapsed
            let round = PublishingRound(
                [(a, .unreachable("down")), (b, .validated(try path(b)))], earlier: earlier, rules: .init(), at: time)
            #expect(round.isPublishable)
            #expect(round.hosts.map(\.hostname) == (isKept ? ["a.example.com"] : []) + ["b.example.com"])
            #expect(round.failures.map(\.consequence) == [isKept ? .kept(since: now) : .omitted])
            #expect(round.remembered.map(\.validated) == [now, time])
        }
    }

    @Test("An entry that is kept does not become younger by being kept")
    func aging() throws {
        var remembered = try good().remembered
        for day in 1...8 {
            let round = PublishingRound(
                [(a, .untrusted("expired")), (b, .unreachable("down"))], earlier: remembered, rules: .init(),
                at: now + Double(day) * 86_400)
            #expect(round.isPublishable == (day <= 7))
            #expect(round.failures.map(\.isUntrusted) == [true, false])
            remembered = round.remembered
        }
        #expect(remembered.map(\.validated) == [now, now])
    }

    @Test("An entry outside its time is not published, and is there again when the clock is right again")
    func clockJump() throws {
        let good = try good().remembered
        for jump in [30 * 86_400, -30 * 86_400] as [TimeInterval] {
            let astray = PublishingRound(
                [(a, .unreachable("down")), (b, .unreachable("down"))], earlier: good, rules: .init(), at: now + jump)
            #expect(!astray.isPublishable && astray.hosts.isEmpty)
            #expect(astray.failures.map(\.consequence) == [.omitted, .omitted])
            #expect(astray.remembered == good)
            let right = PublishingRound(
                [(a, .unreachable("down")), (b, .validated(try path(b)))], earlier: astray.remembered, rules: .init(),
                at: now + 60)
            #expect(right.isPublishable && right.failures.map(\.consequence) == [.kept(since: now)])
            #expect(right.hosts.map(\.validated) == [now, now + 60])
        }
    }

    @Test("A time to keep that is negative counts as none")
    func negativeKeep() throws {
        let earlier = try good().remembered
        for (elapsed, isKept) in [(0, true), (1, false)] as [(TimeInterval, Bool)] {
            let round = PublishingRound(
                [(a, .unreachable("down"))], earlier: earlier, rules: .init(keep: .seconds(Int64.min)),
                at: now + elapsed)
            #expect(round.isPublishable == isKept)
        }
    }

    @Test("A host without pins of its own is left out, and stops nobody; a document without hosts is never published")
    func fewer() throws {
        for answer in [PublishingRound.Answer.unreachable("down"), .untrusted("unknownIssuer")] {
            let round = PublishingRound(
                [(a, .validated(try path(a))), (b, answer)], earlier: [], rules: .init(), at: now)
            #expect(round.isPublishable && round.hosts.map(\.hostname) == ["a.example.com"])
            #expect(round.failures.map(\.host) == [b] && round.failures.map(\.consequence) == [.omitted])
        }
        let none = PublishingRound([(a, .unreachable("down"))], earlier: [], rules: .init(), at: now)
        #expect(!none.isPublishable)
    }

    @Test("An address that this machine cannot reach counts only where no other was validated")
    func unroutable() throws {
        let problem = PublishingRound.Problem("no route to the network", .unroutable)
        let round = PublishingRound(
            [(a, .init(paths: [try path(a)], problems: [problem])), (b, .init(paths: [], problems: [problem]))],
            earlier: [], rules: .init(), at: now)
        #expect(round.failures.map(\.isHarmless) == [true, false])
        #expect(round.failures.map(\.consequence) == [.partial, .omitted])
    }

    @Test("What is remembered counts for the same host and port only")
    func ports() throws {
        let other = try DialedHost("a.example.com", port: 444)
        let round = PublishingRound(
            [(other, .unreachable("down"))], earlier: try good().remembered, rules: .init(), at: now)
        #expect(round.hosts.isEmpty && !round.isPublishable)
    }

    @Test("A host that left the list is forgotten, and named")
    func forgotten() throws {
        let round = PublishingRound(
            [(b, .validated(try path(b)))], earlier: try good().remembered, rules: .init(), at: now)
        #expect(round.remembered.map(\.hostname) == ["b.example.com"])
        #expect(round.left == ["a.example.com:443"] && round.changed == round.left && !round.isHeld)
    }

    @Test("Backups are published for every host, once, and not remembered")
    func backups() throws {
        let spare = try X509Certificate(der: try issuing.leaf(names: ["a.example.com"]).der)
        let key = try SubjectPublicKeyInfo(der: try TestKey(.p384).subjectPublicKeyInfoDER)
        let own = try X509Certificate(der: leaf.der)
        let backups = TrustServerBackups(certificates: [spare, own], keys: [key])
        let round = PublishingRound(
            [(a, .validated(try path(a))), (b, .validated(try path(b)))], earlier: [], rules: .init(backups: backups),
            at: now)
        for host in round.hosts {
            #expect(host.fingerprints.count == 2 && host.publicKeys.count == 3)
            #expect(host.publicKeys.last == Data(key.der).base64EncodedString())
        }
        #expect(round.remembered == (try good().remembered))
        #expect(round.changed.isEmpty)
    }
}
#endif
