import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// For generated documents and chains the command exits as a client decides that was given the same document.
@Suite("The exit code of check --pins is the clients' decision", .timeLimit(.minutes(15)))
struct SameExitCodeTests {
    private static let hosts = ["www.example.com", "a.example.com"]

    /// A provider that has one document.
    private struct OneDocument: RemoteDataProvider {
        let data: Data
        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(data)) }
    }

    /// A folder with chains, and the certificates that documents may be about.
    private struct Scene {
        let site: SigningSite
        let leaves: [(file: String, leaf: TestCertificate)]
        let anchors: TrustAnchors
        let clock: ManualClock

        init(_ site: SigningSite) throws {
            self.site = site
            let names = SameExitCodeTests.hosts.map { TestGeneralName.dns($0) }
            leaves = try ["first.pem", "second.pem"].map { ($0, try site.leaf($0, names)) }
            anchors = try TrustAnchors(der: [site.root.root])
            clock = ManualClock(now: Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded()))
        }

        var certificates: [TestCertificate] {
            leaves.map(\.leaf) + [site.issuing.certificate, site.root.certificate]
        }

        /// Runs the command for each host and chain, and compares it with a client.
        /// - Returns: how often clients got in, and how often they did not.
        func compare(
            _ pins: [String], client: (ServerTrust, DialedHost) throws -> Bool
        ) async throws -> (trusted: Int, refused: Int) {
            var counts = (trusted: 0, refused: 0)
            for name in SameExitCodeTests.hosts {
                // The command is about clients that dial the usual port, unless another is named.
                let host = try DialedHost(name, port: 443)
                for (file, leaf) in leaves {
                    let run = try await site.run(
                        [
                            "check", "--chain", file, "--host", name, "--ca", "root.pem", "--at",
                            "\(clock.now.wholeSeconds)", "--quiet",
                        ] + pins)
                    let isTrusted = try client(
                        ServerTrust(certificates: leaf.chain, host: host, anchors: anchors), host)
                    #expect(run.status == (isTrusted ? 0 : 1), "\(name), \(file): \(run.output)\(run.errors)")
                    counts = (counts.trusted + (isTrusted ? 1 : 0), counts.refused + (isTrusted ? 0 : 1))
                }
            }
            return counts
        }
    }

    @Test("Signed lists, with entries that stand there twice, wildcards, depths, and ends that have come")
    func lists() async throws {
        try await SigningSite.with { site in
            let scene = try Scene(site)
            let end = scene.clock.now
            var generator = SplitMix64(seed: 41)
            var counts = (trusted: 0, refused: 0)
            for round in 0..<9 {
                scene.clock.set(Self.time(of: round, around: end))
                let names = Self.hosts + ["*.example.com"]
                var entries = try (0..<(1 + generator.below(4))).map { _ in
                    try FingerprintEntry(
                        name: names[generator.below(names.count)],
                        pin: .certificate(scene.certificates[generator.below(scene.certificates.count)].der),
                        expires: end.wholeSeconds + Int64(generator.below(4)) * 100 - 100,
                        depth: generator.below(3) == 0 ? generator.below(3) : 0)
                }
                if generator.below(2) == 0 { entries.append(entries[0]) }
                let lines = try entries.map { entry in
                    let signature = Data(try site.key.signature(for: entry.signedBytes)).base64EncodedString()
                    return "{\"name\":\"\(entry.name)\",\"fingerprint\":\"\(entry.fingerprint)\","
                        + "\"expires\":\(entry.expires),\"depth\":\(entry.depth),\"signature\":\"\(signature)\"}"
                }
                let list = "{\"fingerprints\":[\(lines.joined(separator: ","))]}"
                try site.write("pins.json", list)
                let store = try CertStore(
                    checking: CertStoreConfiguration(serviceURL: URL(filePath: "/"), publicKey: site.publicKey),
                    secureDataStore: InMemoryDataStore(), remoteDataProvider: OneDocument(data: Data(list.utf8)),
                    clock: scene.clock, logger: RecordingLog().logger)
                _ = try? await store.update()
                let pins = ["--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins"]
                let one = try await scene.compare(pins) { trust, host in
                    store.policy(for: HostPattern(host)).evaluate(trust, at: scene.clock.now).isTrusted
                }
                counts = (counts.trusted + one.trusted, counts.refused + one.refused)
            }
            #expect(counts.trusted > 3 && counts.refused > 3, "\(counts)")
        }
    }

    @Test("Trust servers' documents, with and without ports")
    func trustServers() async throws {
        try await SigningSite.with { site in
            let scene = try Scene(site)
            let server = try TestTrustServer(clock: scene.clock)
            try server.certificate.write(to: site.folder.appending(path: "server.crt"))
            var generator = SplitMix64(seed: 42)
            var counts = (trusted: 0, refused: 0)
            for round in 0..<8 {
                let ports: [Int?] = [nil, 443]
                let entries = (0..<(1 + generator.below(3))).map { _ in
                    TestTrustServer.Host(
                        Self.hosts[generator.below(2)], port: ports[generator.below(2)],
                        (0..<(1 + generator.below(2))).map { _ in
                            scene.certificates[generator.below(scene.certificates.count)]
                        })
                }
                let data = try server.document(at: scene.clock.now, entries)
                try data.write(to: site.folder.appending(path: "gcx.json.signed"))
                var configuration = TrustServerConfiguration(
                    url: URL(filePath: "/\(round)"), signer: try TrustServerSigner(certificate: server.certificate),
                    customer: "gcx")
                configuration.remoteDataProvider = OneDocument(data: data)
                configuration.secureDataStore = InMemoryDataStore()
                let store = try TrustServerStore(
                    checking: configuration, clock: scene.clock, logger: RecordingLog().logger)
                _ = try? await store.update()
                let pins = ["--trust-server", "gcx.json.signed", "--signer", "server.crt", "--no-shipped-pins"]
                let one = try await scene.compare(pins) { trust, host in
                    Pin.Subject.allCases.allSatisfy { subject in
                        store.policy(for: HostPattern(host), pinning: subject)
                            .evaluate(trust, at: scene.clock.now).isTrusted
                    }
                }
                counts = (counts.trusted + one.trusted, counts.refused + one.refused)
            }
            #expect(counts.trusted > 3 && counts.refused > 3, "\(counts)")
        }
    }

    @Test("Pin files, with roles, states, modes and ends")
    func pinFiles() async throws {
        try await SigningSite.with { site in
            let scene = try Scene(site)
            let keys = try scene.certificates.map { try Pin.publicKey(of: $0.der) }
            let end = scene.clock.now
            var generator = SplitMix64(seed: 43)
            var counts = (trusted: 0, refused: 0)
            for round in 0..<12 {
                scene.clock.set(Self.time(of: round, around: end))
                let file = try PinFile(hosts: hosts(keys, until: end, &generator))
                try site.write("app.pins.json", String(decoding: file.json, as: UTF8.self))
                let client = PolicyLog.$shared.withValue(RecordingLog().policyLog) {
                    TrustManager(policies: file.policies(), clock: scene.clock)
                }
                let one = try await scene.compare(["--pins", "app.pins.json"]) { trust, _ in
                    client.evaluate(trust, at: scene.clock.now).isTrusted
                }
                counts = (counts.trusted + one.trusted, counts.refused + one.refused)
            }
            #expect(counts.trusted > 3 && counts.refused > 3, "\(counts)")
        }
    }

    @Test("Bundles of repositories, with the pins of pin files")
    func repositories() async throws {
        try await SigningSite.with { site in
            let scene = try Scene(site)
            let repository = try await PublishedRepository(in: site)
            let root = try Data(contentsOf: site.published.appending(path: "metadata/1.root.json"))
            let address = try #require(URL(string: "https://pins.example.com/bundle.json"))
            let keys = try scene.certificates.map { try Pin.publicKey(of: $0.der) }
            // A signed file needs two accepted keys, one of them a backup; these are of no server.
            let needed = try [PinFile.KeyPin.State.active, .backup].map { state in
                try PinFile.KeyPin(.publicKey(of: site.root.intermediate(name: "Spare").certificate.der), state: state)
            }
            // After everything was published, and before it ends.
            let end = scene.clock.now.addingTimeInterval(3_600)
            var generator = SplitMix64(seed: 44)
            var counts = (trusted: 0, refused: 0)
            for round in 0..<9 {
                scene.clock.set(Self.time(of: round, around: end))
                let entries = hosts(keys, until: end, &generator, with: needed)
                guard !entries.isEmpty else { continue }
                let now = SystemWallClock().now
                let file = try PinFile(
                    issuedAt: now, notAfter: now.addingTimeInterval(90 * 86_400),
                    refresh: PinFile.Refresh(after: 21_600, grace: 86_400), hosts: entries)
                try await repository.replacePins(with: file)
                var configuration = PinRepositoryConfiguration(
                    source: .bundle(address), root: root, floor: PinFloor(covering: []))
                configuration.remoteDataProvider = OneDocument(
                    data: try Data(contentsOf: site.published.appending(path: "bundle.json")))
                configuration.secureDataStore = InMemoryDataStore()
                let app = try PinRepository(
                    checking: configuration, clock: scene.clock, logger: RecordingLog().logger)
                try await app.update(mode: .forced)
                let one = try await repository.served { url in
                    try await scene.compare([
                        "--repository", url, "--app-root", "site/public/metadata/1.root.json", "--no-shipped-pins",
                    ]) { trust, host in
                        app.policy(for: HostPattern(host)).evaluate(trust, at: scene.clock.now).isTrusted
                    }
                }
                counts = (counts.trusted + one.trusted, counts.refused + one.refused)
            }
            #expect(counts.trusted > 3 && counts.refused > 3, "\(counts)")
        }
    }

    /// A second before an end that documents state, at it, and a second after it.
    private static func time(of round: Int, around end: Date) -> Date {
        end.addingTimeInterval(Double(round % 3) - 1)
    }

    /// Some entries of a pin file, with pins that end then or never.
    private func hosts(
        _ keys: [Pin], until end: Date, _ generator: inout SplitMix64, with needed: [PinFile.KeyPin] = []
    ) -> [PinFile.Host] {
        (Self.hosts + ["**.example.com"]).compactMap { name -> PinFile.Host? in
            guard generator.below(4) > 0, let pattern = try? HostPattern(name) else { return nil }
            if generator.below(8) == 0 { return try? .retired(pattern) }
            let pins = (0..<(1 + generator.below(4))).compactMap { _ in
                try? PinFile.KeyPin(
                    keys[generator.below(keys.count)], role: generator.below(2) == 0 ? .leaf : .issuer,
                    state: PinFile.KeyPin.State.allCases[generator.below(4)],
                    notAfter: generator.below(2) == 0 ? end : nil)
            }
            return try? PinFile.Host(
                pattern, enforcement: generator.below(6) == 0 ? .reportOnly : .enforce,
                requirement: generator.below(3) == 0 ? .oneOfEachRole : .any,
                afterExpiry: generator.below(4) == 0 ? .standardValidation : .reject, pins: pins + needed)
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
