import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Synchronization
import Testing

@testable import HostMonitoring
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel

@Suite("Watching hosts", .timeLimit(.minutes(5)))
struct HostWatchTests {
    private static let name = "www.example.com"
    private let authority: TestAuthority
    private let leaf: TestCertificate
    private let loopback: AddressBlock

    init() throws {
        authority = try TestAuthority.root(name: "Test Root")
        leaf = try authority.leaf(names: [.dns(Self.name)])
        loopback = try AddressBlock("127.0.0.0/8")
    }

    private func watch(
        _ addresses: [String] = ["127.0.0.1"], allowing: [AddressBlock]? = nil, clock: any WallClock = SystemWallClock()
    ) throws -> HostWatch {
        let found = try addresses.map { try IPAddress($0) }
        return HostWatch(
            validator: PathValidator(anchors: try TrustAnchors(der: [authority.root])),
            allowing: allowing ?? [loopback], clock: clock, resolver: AddressResolver { _ in found })
    }

    private func watched(
        _ port: Int, keys: [TestCertificate] = [], certificates: [TestCertificate] = [],
        announced: [TestCertificate] = [], ready: [[UInt8]] = []
    ) throws -> WatchedHost {
        let published = try ContentHost(
            name: Self.name, port: Int64(port),
            certificates: certificates.map {
                try ContentHost.Certificate(fingerprint: Digest(of: $0.der), expires: Story.end)
            }, keys: keys.map { ContentHost.Key(pin: try keyDigest($0)) })
        return try WatchedHost(
            DialedHost(Self.name, port: port), published: published, announcedCertificates: announced.map(\.der),
            announcedKeys: ready)
    }

    private func keyDigest(_ certificate: TestCertificate) throws -> Digest {
        Digest(of: try X509Certificate(der: certificate.der).subjectPublicKeyInfo)
    }

    @Test("What is published or announced is known, as a key or as a certificate; all else raises an alarm")
    func verdicts() async throws {
        let other = try authority.leaf(names: [.dns(Self.name)])
        let key = Array(try X509Certificate(der: leaf.der).subjectPublicKeyInfo)
        try await withLoopbackTLSServer(serving: leaf) { server in
            let watch = try watch()
            for host in [
                try watched(server.port, keys: [leaf, other]), try watched(server.port, certificates: [leaf]),
                try watched(server.port, keys: [other], announced: [leaf]),
                try watched(server.port, keys: [other], ready: [key]),
            ] {
                let finding = try #require(await watch.look(at: host).first)
                #expect(finding.verdict == .known && finding.words.isEmpty, "\(finding)")
                #expect(finding.chain.first == leaf.der && finding.place == "127.0.0.1:\(server.port)")
            }
            for host in [try watched(server.port, keys: [other]), try watched(server.port, certificates: [other])] {
                let finding = try #require(await watch.look(at: host).first)
                #expect(finding.verdict == .unannounced && !finding.words.isEmpty, "\(finding)")
                #expect(try finding.key == keyDigest(leaf))
            }
            #expect(try await watch.look(at: watched(server.port)).first?.verdict == .unpinned)
        }
    }

    @Test("A host with keys of one kind only is not asked for another, once that is said")
    func oneKeyKind() async throws {
        for hasOneKeyKind in [false, true] {
            try await withLoopbackTLSServer(serving: leaf) { server in
                let host = try WatchedHost(
                    DialedHost(Self.name, port: server.port), hasOneKeyKind: hasOneKeyKind,
                    published: ContentHost(
                        name: Self.name, port: Int64(server.port), keys: [ContentHost.Key(pin: try keyDigest(leaf))]))
                #expect(try await watch().look(at: host).map(\.verdict) == [.known])
                #expect(server.statistics.connectionsAccepted == (hasOneKeyKind ? 1 : 2))
            }
        }
    }

    @Test("An issuer's pin counts for what it issued, and not for a server that has its key")
    func issuer() async throws {
        let host = { (port: Int, role: ContentHost.Key.Role, pinned: TestCertificate) in
            try WatchedHost(
                DialedHost(Self.name, port: port),
                published: ContentHost(
                    name: Self.name, port: Int64(port),
                    keys: [ContentHost.Key(pin: try keyDigest(pinned), role: role)]))
        }
        try await withLoopbackTLSServer(serving: leaf) { server in
            let watch = try watch()
            let good = try await watch.look(at: host(server.port, .issuer, authority.certificate))
            #expect(good.first?.verdict == .known)
            let bad = try await watch.look(at: host(server.port, .issuer, leaf))
            #expect(bad.first?.verdict == .unannounced)
            let wrong = try await watch.look(at: host(server.port, .leaf, authority.certificate))
            #expect(wrong.first?.verdict == .unannounced)
        }
    }

    @Test("A known key with a certificate that no client accepts is invalid, and a stranger's is an alarm")
    func invalid() async throws {
        let stranger = try TestAuthority.root(name: "Other Root").leaf(names: [.dns(Self.name)])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let late = ManualClock(now: SystemWallClock().now.addingTimeInterval(20 * 366 * 86_400))
            let finding = try await watch(clock: late).look(at: watched(server.port, keys: [leaf])).first
            #expect(finding?.verdict == .invalid, "\(String(describing: finding))")
        }
        try await withLoopbackTLSServer(serving: stranger) { server in
            let finding = try await watch().look(at: watched(server.port, keys: [leaf])).first
            #expect(finding?.verdict == .unannounced, "\(String(describing: finding))")
        }
    }

    @Test(
        "Addresses that are not of the public Internet are not asked, whatever a name resolves to",
        arguments: [
            "127.0.0.1", "169.254.169.254", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.1.1",
            "0.0.0.0", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::",
            "fd00:ec2::254", "fd12::1", "fe80::1", "::127.0.0.1",
        ])
    func filtered(_ address: String) async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let watch = try watch([address], allowing: [])
            let findings = try await watch.look(at: watched(server.port, keys: [leaf]))
            #expect(findings.count == 1 && findings.first?.verdict == .unreadable)
            #expect(findings.first?.words.contains("may not be asked") == true, "\(findings)")
            #expect(server.statistics.connectionsAccepted == 0)
            // An address that an administrator of an app gives is no way around it.
            let dialed = try WatchedHost(
                DialedHost(Self.name, port: server.port), dial: DialedHost(address), published: nil)
            #expect(await watch.look(at: dialed).first?.words.contains("may not be asked") == true)
        }
    }

    @Test("A name that resolves to something else the second time is dialed at what passed the first time")
    func changesItsMind() async throws {
        let (good, bad) = (try IPAddress("127.0.0.1"), try IPAddress("127.0.0.2"))
        let asked = Mutex(0)
        let resolver = AddressResolver { _ in
            asked.withLock {
                $0 += 1; return $0 == 1 ? [good] : [bad]
            }
        }
        try await withLoopbackTLSServer(serving: leaf) { server in
            let watch = HostWatch(
                validator: PathValidator(anchors: try TrustAnchors(der: [authority.root])),
                allowing: [try AddressBlock("127.0.0.1/32")], resolver: resolver)
            let host = try watched(server.port, keys: [leaf])
            let first = await watch.look(at: host)
            #expect(first.map(\.verdict) == [.known] && asked.withLock { $0 } == 1)
            let second = await watch.look(at: host)
            #expect(second.map(\.verdict) == [.unreadable] && second[0].words.contains("may not be asked"))
        }
    }

    @Test("Every address is asked, and one that does not answer is said to be unreadable")
    func addresses() async throws {
        try await withLoopbackTLSServer(serving: leaf) { server in
            let watch = try watch(["127.0.0.1", "127.0.0.9", "169.254.169.254"])
            let findings = try await watch.look(at: watched(server.port, keys: [leaf]))
            #expect(
                findings.map(\.place).sorted() == [
                    "127.0.0.1:\(server.port)", "127.0.0.9:\(server.port)", "169.254.169.254:\(server.port)",
                ])
            #expect(findings.first { $0.place.hasPrefix("127.0.0.1") }?.verdict == .known)
            #expect(findings.filter { $0.verdict == .unreadable }.count == 2, "\(findings)")
        }
    }

    @Test("Looks are five minutes apart, a tenth earlier or later by chance")
    func schedule() {
        var generator = SeededGenerator(seed: 5)
        let times = (0..<2_000).map { _ in WatchSchedule.usual.next(after: 1_000, using: &generator) - 1_000 }
        #expect(times.allSatisfy { (270...330).contains($0) })
        #expect(Set(times).count > 50)
        #expect(WatchSchedule(interval: 0, jitter: 7).next(after: 0, using: &generator) >= 1)
    }
}
