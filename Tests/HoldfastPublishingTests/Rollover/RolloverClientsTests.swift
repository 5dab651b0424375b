import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

/// Fleets of the model as trust servers and repositories: documents are signed and published tick by tick, and the clients'
/// own stores fetch them, some at each tick. At every tick from now on, clients of every age go to every server.
@Suite("The model of a rollover and clients that fetch from trust servers and repositories", .timeLimit(.minutes(15)))
struct RolloverClientsTests {
    /// Counts of compared decisions of real clients.
    private struct Counts {
        var letIn = 0
        var refused = 0
        var tooOld = 0
    }

    /// A client that fetched at a tick, and the policy that it has since.
    private struct Client {
        let fetched: Int
        let policies: [any TrustPolicy]

        func isLetIn(by certificate: TestCertificate, _ anchors: TrustAnchors, at time: Date) throws -> Bool {
            let trust = ServerTrust(
                certificates: certificate.chain, host: try DialedHost(RepositoryScene.host), anchors: anchors)
            let decisions = policies.map { $0.evaluate(trust, at: time).isTrusted }
            #expect(Set(decisions).count == 1, "clients of one document disagree")
            return decisions[0]
        }
    }

    /// A fleet of a kind, of which no document ends before its time: a machine signs it again, or it lasts for months.
    private static func fleet(_ seed: Int, _ kind: RolloverFleet.Kind) -> RolloverFleet {
        var random = SplitMix64(seed: UInt64(seed))
        var fleet = RolloverFleet(using: &random)
        fleet.kind = kind
        fleet.shipped = []
        // A trust server's document lives for 25 hours, which is four ticks.
        if kind == .trustServer { fleet.staleness = min(fleet.staleness, 3) }
        for index in fleet.documents.indices where kind == .trustServer {
            fleet.documents[index].end = RolloverFleet.never
        }
        return fleet
    }

    private static func certificates(_ fleet: RolloverFleet, _ authority: TestAuthority) throws -> [TestCertificate] {
        try fleet.ends.map { end in
            try authority.leaf(names: [.dns(RepositoryScene.host)]) { leaf in
                leaf.notAfter =
                    end == RolloverFleet.never
                    ? .days(1_000) : .date(RolloverScene.date(end).addingTimeInterval(-1))
            }
        }
    }

    /// Lets time pass from the first document on.
    /// - Parameters:
    ///   - publish: publishes a document of the fleet, or the last one again if nil.
    ///   - fetch: makes a client that fetches what is published.
    private static func compare(
        _ fleet: RolloverFleet, _ certificates: [TestCertificate], _ anchors: TrustAnchors, _ clock: ManualClock,
        publish: (RolloverFleet.Document?) async throws -> Void, fetch: () async throws -> [any TrustPolicy]
    ) async throws -> Counts {
        let world = RolloverWorld(fleet)
        var counts = Counts()
        var clients: [Client] = []
        for tick in fleet.documents[0].published..<RolloverFleet.horizon {
            clock.set(RolloverScene.date(tick))
            let news = fleet.documents.filter { $0.published == tick }
            for document in news { try await publish(document) }
            if news.isEmpty { try await publish(nil) }
            if tick >= -fleet.staleness { clients.append(Client(fetched: tick, policies: try await fetch())) }
            guard tick >= 0 else { continue }
            let time = RolloverScene.date(tick).addingTimeInterval(Double(RolloverWorld.second) / 2)
            clock.set(time)
            for client in clients where tick - client.fetched <= fleet.staleness {
                let held = try #require(fleet.documents.lastIndex { $0.published <= client.fetched })
                for identity in Set(fleet.servers + [fleet.target].compactMap(\.self)) {
                    let isLetIn = try client.isLetIn(by: certificates[identity], anchors, at: time)
                    #expect(
                        isLetIn == world.lets(identity, in: held, at: tick),
                        "tick \(tick), fetched at \(client.fetched), \(identity): \(fleet)")
                    if isLetIn { counts.letIn += 1 } else { counts.refused += 1 }
                }
            }
            // After 25 hours, four ticks, clients refuse a document that a machine signs again.
            guard fleet.kind == .trustServer else { continue }
            for client in clients where tick - client.fetched > 4 {
                for certificate in certificates {
                    #expect(try !client.isLetIn(by: certificate, anchors, at: time))
                    counts.tooOld += 1
                }
            }
        }
        return counts
    }

    @Test("Trust servers: whoever the model lets in gets in with the store's own policies, and nobody else")
    func trustServers() async throws {
        var all = Counts()
        for seed in 0..<40 {
            let fleet = Self.fleet(seed, .trustServer)
            let clock = ManualClock(now: RolloverScene.date(fleet.documents[0].published))
            let authority = try TestAuthority.root(clock: clock)
            let certificates = try Self.certificates(fleet, authority)
            let key = try TrustServerKey(customer: "acme", kind: .p256, at: clock.now)
            let provider = PublishedOctets()
            var published = 0
            let counts = try await Self.compare(
                fleet, certificates, try TrustAnchors(der: [authority.root]), clock,
                publish: { document in
                    published = document?.mask ?? published
                    let pinned = try certificates.indices.filter { published >> $0 & 1 == 1 }
                        .map { try X509Certificate(der: certificates[$0].der) }
                    let host = TrustServerHost(
                        hostname: RepositoryScene.host, port: 443,
                        fingerprints: pinned.map(TrustServerHost.fingerprint),
                        publicKeys: pinned.map(TrustServerHost.publicKey), validated: clock.now)
                    provider.publish(
                        try TrustServerDraft(customer: "acme", hosts: [host], timestamp: clock.now).signed(by: key))
                },
                fetch: {
                    var configuration = TrustServerConfiguration(
                        url: try #require(URL(string: "https://pins.example.com/acme.json.signed")),
                        signer: try TrustServerSigner(certificate: key.certificate), customer: "acme")
                    configuration.secureDataStore = InMemoryDataStore()
                    configuration.remoteDataProvider = provider
                    let store = try TrustServerStore(
                        checking: configuration, clock: clock, logger: RecordingLog().logger)
                    _ = try await store.update(mode: .forced)
                    return try Pin.Subject.allCases.map {
                        try store.policy(for: RepositoryScene.host, pinning: $0)
                    }
                })
            all.letIn += counts.letIn
            all.refused += counts.refused
            all.tooOld += counts.tooOld
        }
        #expect(all.letIn > 2_000 && all.refused > 1_000 && all.tooOld > 5_000, "\(all)")
    }

    @Test("Repositories: whoever the model lets in gets in with an app that follows it, in either way of downloading")
    func repositories() async throws {
        var all = Counts()
        for seed in 100..<120 {
            let fleet = Self.fleet(seed, .repository)
            let counts = try await withTemporaryFolder { folder in
                let start = RolloverScene.date(fleet.documents[0].published)
                let scene = try RepositoryScene(folder, start: start)
                let certificates = try Self.certificates(fleet, scene.authority)
                let (offline, online) = (TUFSigningKey(.ed25519), TUFSigningKey(.ed25519))
                // A repository takes no pins without a backup; this one is of no server of the model.
                let spare = try scene.authority.leaf(names: [.dns(RepositoryScene.host)])
                try await scene.begin(root: [offline], targets: [offline], online: online)
                return try await Self.compare(
                    fleet, certificates, try TrustAnchors(der: [scene.authority.root]), scene.clock,
                    publish: { document in
                        // Its timestamp lasts for two weeks, longer than all of this.
                        guard let document else { return }
                        let file = try Self.pinFile(
                            document, of: fleet, certificates, spare, at: scene.clock.now)
                        try await scene.prepare(signedBy: [offline]) { state in
                            _ = try state.prepare(pins: file.json, at: scene.clock.now)
                        }
                        try await scene.repository.write(
                            try await scene.publication(online, allowing: [.expiry]))
                    },
                    fetch: {
                        let way = RepositoryScene.Way.allCases[seed % 2]
                        let device = try scene.device(way)
                        try await device.update(mode: .forced)
                        return [try device.policy(for: RepositoryScene.host)]
                    })
            }
            all.letIn += counts.letIn
            all.refused += counts.refused
        }
        #expect(all.letIn > 700 && all.refused > 1_000, "\(all)")
    }

    private static func pinFile(
        _ document: RolloverFleet.Document, of fleet: RolloverFleet, _ certificates: [TestCertificate],
        _ spare: TestCertificate, at now: Date
    ) throws -> PinFile {
        let end = document.end == RolloverFleet.never ? nil : RolloverScene.date(document.end).addingTimeInterval(-1)
        let pins = try certificates.indices.filter { document.mask >> $0 & 1 == 1 }.map { identity in
            try PinFile.KeyPin(
                .publicKey(of: certificates[identity].der),
                state: fleet.backups >> identity & 1 == 1 ? .backup : .active, notAfter: end)
        }
        return try PinFile(
            issuedAt: now, notAfter: now.addingTimeInterval(90 * RepositoryScene.day),
            refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400),
            hosts: [
                PinFile.Host(
                    HostPattern(RepositoryScene.host),
                    pins: pins + [PinFile.KeyPin(.publicKey(of: spare.der), state: .backup)])
            ])
    }
}

/// The currently published document.
private final class PublishedOctets: RemoteDataProvider {
    private let octets = Lock(Data())

    func publish(_ data: Data) { octets.withLock { $0 = data } }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        RemoteDataResponse(.body(octets.withLock { $0 }))
    }
}
