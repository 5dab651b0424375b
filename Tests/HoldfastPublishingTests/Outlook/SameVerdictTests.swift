import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

/// For generated documents, chains and times the outlook says what a client decides that was given the same document.
@Suite("The verdict on published pins is the clients' decision")
struct SameVerdictTests {
    private static let host = "www.example.com"
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let leaves: [TestCertificate]
    private let anchors: TrustAnchors

    /// A provider that has one document.
    private struct OneDocument: RemoteDataProvider {
        let data: Data
        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(data)) }
    }

    init() throws {
        root = try TestAuthority.root(clock: clock)
        issuing = try root.intermediate()
        let first = try issuing.leaf(names: [.dns(Self.host), .dns("a.example.com")])
        leaves = [first, try issuing.renew(first), try issuing.leaf(names: [.dns(Self.host), .dns("a.example.com")])]
        anchors = try TrustAnchors(der: [root.root])
    }

    /// Certificates that a document may be about: those of every chain, and one that no server has.
    private func certificates() throws -> [TestCertificate] {
        leaves + [issuing.certificate, root.certificate, try root.intermediate(name: "Another CA").certificate]
    }

    private func trust(_ leaf: TestCertificate, _ host: DialedHost) -> ServerTrust {
        ServerTrust(certificates: leaf.chain, host: host, anchors: anchors)
    }

    /// Compares the judge of publications and a client for each chain, host and time.
    private func compare(
        _ published: PublishedPins, hosts: [DialedHost], times: [Date],
        client: (ServerTrust, DialedHost, Date) throws -> Bool
    ) throws -> (trusted: Int, refused: Int) {
        var (trusted, refused) = (0, 0)
        let policies = try hosts.map { host in
            try PolicyLog.$shared.withValue(RecordingLog().policyLog) { try published.policy(of: host) }
        }
        for time in times {
            let rows = try rows(of: published, hosts, at: time)
            for (index, host) in hosts.enumerated() {
                for (chain, leaf) in leaves.enumerated() {
                    let decision = policies[index].evaluate(trust(leaf, host), at: time)
                    let mine = rows.filter { $0.hostIndex == index && $0.presentation == chain }
                    let expected = try client(trust(leaf, host), host, time)
                    #expect(!mine.isEmpty && mine.contains { $0.verdict == .out } == !expected, "\(host) at \(time)")
                    #expect(decision.isTrusted == expected)
                    if expected { trusted += 1 } else { refused += 1 }
                }
            }
        }
        return (trusted, refused)
    }

    /// What the outlook says at a time about clients that hold the document.
    private func rows(
        of published: PublishedPins, _ hosts: [DialedHost], at time: Date
    ) throws -> [PublicationOutlook.Row] {
        let outlook = try PublicationOutlook(
            judging: .init(
                documents: [published.document],
                hosts: hosts.map { host in
                    .init(
                        host.name, port: host.port,
                        shown: leaves.map { .init($0.chain.map { Data($0) }, at: "here", seen: time) })
                },
                platforms: [.init("root", anchors: [Data(root.root)])],
                appVersions: published.document.appVersions.isEmpty
                    ? .noShippedPins : .versions(published.document.appVersions.map { .init($0) }),
                span: .seconds(1), now: time))
        return outlook.rows.filter { $0.holders == .current }
    }

    private var hosts: [DialedHost] {
        get throws {
            try [
                DialedHost(Self.host), DialedHost(Self.host, port: 443), DialedHost(Self.host, port: 8_443),
                DialedHost("a.example.com", port: 443), DialedHost("b.example.com", port: 443),
            ]
        }
    }

    @Test("Signed lists, with entries that stand there twice, wildcards, depths and ends")
    func lists() async throws {
        let key = SigningKey()
        let certificates = try certificates()
        var generator = SplitMix64(seed: 31)
        var counts = (trusted: 0, refused: 0)
        for _ in 0..<24 {
            let names = [Self.host, "*.example.com", "a.example.com", "WWW.example.com"]
            var entries = try (0..<(1 + generator.below(4))).map { _ in
                try FingerprintEntry(
                    name: names[generator.below(names.count)],
                    pin: .certificate(certificates[generator.below(certificates.count)].der),
                    expires: Int64(clock.now.timeIntervalSince1970) + Int64(generator.below(4)) * 10,
                    depth: generator.below(3) == 0 ? generator.below(3) : 0)
            }
            if generator.below(3) == 0 { entries.append(entries[0]) }
            let data = try list(entries, signedBy: key)
            let store = try CertStore(
                checking: CertStoreConfiguration(
                    serviceURL: URL(filePath: "/"), publicKey: Data(key.publicKey.x963).base64EncodedString()),
                secureDataStore: InMemoryDataStore(), remoteDataProvider: OneDocument(data: data), clock: clock,
                logger: RecordingLog().logger)
            _ = try? await store.update()
            let published = try PublishedPins(list: data, named: "list.json", key: key.publicKey, at: clock.now)
            let times = entries.flatMap { entry in
                [-1, 0, 1].map { Date(timeIntervalSince1970: Double(entry.expires) + $0) }
            }.filter { $0 >= clock.now }
            let one = try compare(published, hosts: hosts, times: times) { trust, host, time in
                store.policy(for: HostPattern(host)).evaluate(trust, at: time).isTrusted
            }
            counts = (counts.trusted + one.trusted, counts.refused + one.refused)
        }
        #expect(counts.trusted > 100 && counts.refused > 100, "\(counts)")
    }

    private func list(_ entries: [FingerprintEntry], signedBy key: SigningKey) throws -> Data {
        let lines = try entries.map { entry in
            let signature = Data(try key.signature(for: entry.signedBytes)).base64EncodedString()
            return "{\"name\":\"\(entry.name)\",\"fingerprint\":\"\(entry.fingerprint)\",\"expires\":\(entry.expires),"
                + "\"depth\":\(entry.depth),\"signature\":\"\(signature)\"}"
        }
        return Data("{\"fingerprints\":[\(lines.joined(separator: ","))]}".utf8)
    }

    @Test(
        "Trust servers' documents, with and without ports, for clients that pin keys and clients that pin certificates")
    func trustServers() async throws {
        let server = try TestTrustServer(clock: clock)
        let certificates = try certificates()
        var generator = SplitMix64(seed: 32)
        var counts = (trusted: 0, refused: 0)
        for round in 0..<24 {
            let ports: [Int?] = [nil, 443, 8_443]
            let entries = (0..<(1 + generator.below(3))).map { _ in
                TestTrustServer.Host(
                    [Self.host, "a.example.com"][generator.below(2)], port: ports[generator.below(3)],
                    (0..<(1 + generator.below(2))).map { _ in certificates[generator.below(certificates.count)] })
            }
            let data = try server.document(at: clock.now, entries)
            var configuration = TrustServerConfiguration(
                url: URL(filePath: "/\(round)"), signer: try TrustServerSigner(certificate: server.certificate),
                customer: "gcx")
            configuration.remoteDataProvider = OneDocument(data: data)
            configuration.secureDataStore = InMemoryDataStore()
            let store = try TrustServerStore(
                checking: configuration, clock: clock, logger: RecordingLog().logger)
            _ = try? await store.update()
            let published = try PublishedPins(
                trustServerDocument: data, named: "gcx.json.signed", signer: server.certificate, customer: "gcx",
                at: clock.now)
            let end = clock.now.addingTimeInterval((configuration.maximumAge + configuration.grace).inSeconds)
            let one = try compare(
                published, hosts: hosts, times: [clock.now, end - 1, end, end + 1]
            ) { trust, host, time in
                Pin.Subject.allCases.allSatisfy { subject in
                    store.policy(for: HostPattern(host), pinning: subject).evaluate(trust, at: time).isTrusted
                }
            }
            counts = (counts.trusted + one.trusted, counts.refused + one.refused)
        }
        #expect(counts.trusted > 100 && counts.refused > 100, "\(counts)")
    }

    @Test("Pin files, with roles, states, modes, ports, patterns and ends")
    func pinFiles() throws {
        let keys = try certificates().map { try Pin.publicKey(of: $0.der) }
        var generator = SplitMix64(seed: 33)
        var counts = (trusted: 0, refused: 0)
        for _ in 0..<150 {
            let end = generator.below(2) == 0 ? nil : clock.now.addingTimeInterval(20)
            let patterns = ["www.example.com", "*.example.com", "**.example.com", "a.example.com"]
            let hosts = patterns.compactMap { pattern -> PinFile.Host? in
                guard generator.below(2) == 0, let pattern = try? HostPattern(pattern) else { return nil }
                if generator.below(8) == 0 { return try? .retired(pattern) }
                let pins = (0..<(1 + generator.below(4))).compactMap { _ in
                    try? PinFile.KeyPin(
                        keys[generator.below(keys.count)], role: generator.below(2) == 0 ? .leaf : .issuer,
                        state: PinFile.KeyPin.State.allCases[generator.below(4)],
                        notAfter: generator.below(2) == 0
                            ? nil : clock.now.addingTimeInterval(Double(generator.below(3)) * 10))
                }
                return try? PinFile.Host(
                    pattern, ports: generator.below(3) == 0 ? [443] : [],
                    enforcement: generator.below(6) == 0 ? .reportOnly : .enforce,
                    requirement: generator.below(3) == 0 ? .oneOfEachRole : .any,
                    afterExpiry: generator.below(4) == 0 ? .standardValidation : .reject, pins: pins)
            }
            let file = try PinFile(notAfter: end, hosts: hosts)
            let client = PolicyLog.$shared.withValue(RecordingLog().policyLog) {
                TrustManager(policies: file.policies(), clock: clock)
            }
            let published = try PublishedPins(
                pinFile: Data(file.json), named: "app.pins.json", carriedBy: ["1"], at: clock.now)
            let times = [0, 9, 10, 11, 19, 20, 21].map { clock.now.addingTimeInterval($0) }
            let one = try compare(published, hosts: self.hosts, times: times) { trust, _, time in
                client.evaluate(trust, at: time).isTrusted
            }
            counts = (counts.trusted + one.trusted, counts.refused + one.refused)
        }
        #expect(counts.trusted > 500 && counts.refused > 500, "\(counts)")
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
