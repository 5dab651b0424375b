import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

/// For generated documents, chains and times the outlook says what a client decides that was given the same document.
@Suite("The verdict on published pins is the clients' decision", .timeLimit(.minutes(15)))
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

    /// Compares the judge of publications, and the policy of a check, with a client for each chain, host and time.
    private func compare(
        _ published: PublishedPins, hosts: [DialedHost], times: [Date],
        client: (ServerTrust, DialedHost, Date) throws -> Bool
    ) throws -> (trusted: Int, refused: Int) {
        let policies = try hosts.map { host in
            try PolicyLog.$shared.withValue(RecordingLog().policyLog) { try published.policy(of: host) }
        }
        return try compare(published.document, policies, hosts: hosts, times: times, client: client)
    }

    /// - Parameter policies: those of a check; nil for a document that is not checked by its file.
    private func compare(
        _ document: PublicationOutlook.Document, _ policies: [any TrustPolicy]?, hosts: [DialedHost], times: [Date],
        client: (ServerTrust, DialedHost, Date) throws -> Bool
    ) throws -> (trusted: Int, refused: Int) {
        var (trusted, refused) = (0, 0)
        for time in times {
            let rows = try rows(of: document, hosts, at: time)
            for (index, host) in hosts.enumerated() {
                for (chain, leaf) in leaves.enumerated() {
                    let mine = rows.filter { $0.hostIndex == index && $0.presentation == chain }
                    let expected = try client(trust(leaf, host), host, time)
                    #expect(!mine.isEmpty && mine.contains { $0.verdict == .out } == !expected, "\(host) at \(time)")
                    if let policy = policies?[index] {
                        #expect(policy.evaluate(trust(leaf, host), at: time).isTrusted == expected)
                    }
                    if expected { trusted += 1 } else { refused += 1 }
                }
            }
        }
        return (trusted, refused)
    }

    /// The outlook's rows at a time about clients that hold the document.
    private func rows(
        of document: PublicationOutlook.Document, _ hosts: [DialedHost], at time: Date
    ) throws -> [PublicationOutlook.Row] {
        let outlook = try PublicationOutlook(
            judging: .init(
                documents: [document],
                hosts: hosts.map { host in
                    .init(
                        host.name, port: host.port,
                        shown: leaves.map { .init($0.chain.map { Data($0) }, at: "here", seen: time) })
                },
                platforms: [.init("root", anchors: [Data(root.root)])],
                appVersions: document.appVersions.isEmpty
                    ? .noShippedPins : .versions(document.appVersions.map { .init($0) }),
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
            let entries = try entries(of: certificates, &generator)
            let data = try list(entries, signedBy: key)
            let store = try CertStore(
                checking: CertStoreConfiguration(
                    serviceURL: URL(filePath: "/"), publicKey: Data(key.publicKey.x963).base64EncodedString()),
                secureDataStore: InMemoryDataStore(), remoteDataProvider: OneDocument(data: data), clock: clock,
                logger: RecordingLog().logger)
            _ = try? await store.update()
            let published = try PublishedPins(list: data, named: "list.json", key: key.publicKey, at: clock.now)
            let one = try compare(published, hosts: hosts, times: times(of: entries)) { trust, host, time in
                store.policy(for: HostPattern(host)).evaluate(trust, at: time).isTrusted
            }
            counts = (counts.trusted + one.trusted, counts.refused + one.refused)
        }
        #expect(counts.trusted > 100 && counts.refused > 100, "\(counts)")
    }

    /// Some entries, of which one may stand there twice.
    private func entries(
        of certificates: [TestCertificate], _ generator: inout SplitMix64
    ) throws -> [FingerprintEntry] {
        let names = [Self.host, "*.example.com", "a.example.com", "WWW.example.com"]
        var entries = try (0..<(1 + generator.below(4))).map { _ in
            try FingerprintEntry(
                name: names[generator.below(names.count)],
                pin: .certificate(certificates[generator.below(certificates.count)].der),
                expires: Int64(clock.now.timeIntervalSince1970) + Int64(generator.below(4)) * 10,
                depth: generator.below(3) == 0 ? generator.below(3) : 0)
        }
        if generator.below(3) == 0 { entries.append(entries[0]) }
        return entries
    }

    private func times(of entries: [FingerprintEntry]) -> [Date] {
        entries.flatMap { entry in [-1, 0, 1].map { Date(timeIntervalSince1970: Double(entry.expires) + $0) } }
            .filter { $0 >= clock.now }
    }

    @Test("Answers to challenges, with the same entries as lists, and without any")
    func answers() async throws {
        let certificates = try certificates()
        var generator = SplitMix64(seed: 34)
        var counts = (trusted: 0, refused: 0)
        for round in 0..<24 {
            let entries = round % 8 == 0 ? [] : try entries(of: certificates, &generator)
            let server = AnsweringServer(key: SigningKey(), entries: entries, time: clock.now)
            let store = try server.client(clock: clock)
            _ = try? await store.update()
            let one = try compare(
                server.document(published: clock.now), nil, hosts: hosts, times: times(of: entries) + [clock.now]
            ) { trust, host, time in store.policy(for: HostPattern(host)).evaluate(trust, at: time).isTrusted }
            if entries.isEmpty { #expect(one.trusted == 0) }
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

    /// Some entries of a pin file.
    private func hosts(
        _ keys: [Pin], _ generator: inout SplitMix64, with needed: [PinFile.KeyPin] = []
    ) -> [PinFile.Host] {
        let patterns = ["www.example.com", "*.example.com", "**.example.com", "a.example.com"]
        return patterns.compactMap { pattern -> PinFile.Host? in
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
                afterExpiry: generator.below(4) == 0 ? .standardValidation : .reject, pins: pins + needed)
        }
    }

    @Test("Bundles of repositories, with the pins of pin files, and grace after their end")
    func bundles() async throws {
        let certificates = try certificates()
        let keys = try certificates.dropLast().map { try Pin.publicKey(of: $0.der) }
        // A signed file needs two accepted keys, one of them a backup; these are of no server.
        let needed = try [PinFile.KeyPin.State.active, .backup].map { state in
            try PinFile.KeyPin(.publicKey(of: root.intermediate(name: "Spare").certificate.der), state: state)
        }
        var generator = SplitMix64(seed: 35)
        var counts = (trusted: 0, refused: 0)
        for _ in 0..<16 {
            let file = try PinFile(
                issuedAt: clock.now, notAfter: clock.now.addingTimeInterval(20),
                refresh: PinFile.Refresh(after: 3_600, grace: 10), hosts: hosts(keys, &generator, with: needed))
            let publication = try await PublishedBundle(of: file, at: clock.now)
            let app = try PublishedBundle.app(root: publication.root, bundle: publication.bundle, clock: clock)
            _ = try await app.update(mode: .forced)
            let published = try PublishedPins(
                bundle: publication.bundle, root: publication.root, named: "bundle.json", at: clock.now)
            let times = [0, 9, 10, 11, 20, 21, 30, 31].map { clock.now.addingTimeInterval($0) }
            let one = try compare(published, hosts: self.hosts, times: times) { trust, host, time in
                app.policy(for: HostPattern(host)).evaluate(trust, at: time).isTrusted
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
            let hosts = hosts(keys, &generator)
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
