import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastSigning
import HoldfastTesting
import Logging
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel

/// The clients in apps: stores and policies with their own downloads, over sockets.
@Suite("The clients of apps", .timeLimit(.minutes(5)))
struct RealClientTests {
    private let authority: TestAuthority
    private let leaf: TestCertificate
    private let other: TestCertificate
    private static let name = "www.example.com"
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let now = Int64(SystemWallClock().now.timeIntervalSince1970)

    init() throws {
        authority = try TestAuthority.root(name: "Test Root")
        leaf = try authority.leaf(names: [.dns(Self.name)])
        other = try authority.leaf(names: [.dns(Self.name)])
    }

    private func entries(_ certificates: [TestCertificate]) throws -> [FingerprintEntry] {
        try certificates.map {
            try FingerprintEntry(
                name: Self.name, pin: .certificate($0.der),
                until: Date(timeIntervalSince1970: TimeInterval(Self.now + 40 * 86_400)))
        }
    }

    private func decision(_ policy: any TrustPolicy, about certificate: TestCertificate) throws -> Bool {
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain), purpose: .server(identity: try DialedHost(Self.name)),
            validator: PathValidator(anchors: try TrustAnchors(der: [authority.root])))
        return policy.evaluate(trust, at: SystemWallClock().now).isTrusted
    }

    private func site() throws -> ServingSite {
        let site = try ServingSite()
        site.time.withLock { $0 = Self.now }
        return site
    }

    private func store(_ path: String, _ port: Int, _ site: ServingSite, useChallenge: Bool) throws -> CertStore {
        try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")),
                publicKey: try site.key.publicKey.base64, useChallenge: useChallenge),
            secureDataStore: InMemoryDataStore(),
            remoteDataProvider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true), logger: Self.quiet)
    }

    @Test("CertStore in challenge mode follows what is published, and believes nobody else's answer")
    func challenge() async throws {
        let site = try site()
        site.publish(apps: [try site.app(entries: entries([leaf]), end: Self.now + 86_400)])
        try await site.listening { port in
            let store = try store("/app/init?appName=bank", port, site, useChallenge: true)
            _ = try await store.update(mode: .forced)
            let policy = try store.policy(for: Self.name)
            #expect(try decision(policy, about: leaf))
            #expect(try !decision(policy, about: other))
            site.publish(2, apps: [try site.app(entries: entries([leaf, other]), end: Self.now + 86_400)])
            _ = try await store.update(mode: .forced)
            #expect(try decision(policy, about: other))
            // Another server with the same content and another key.
            let stranger = ServingSite(key: SigningKey())
            stranger.time.withLock { $0 = Self.now }
            stranger.publish(apps: [try stranger.app(entries: entries([other]), end: Self.now + 86_400)])
            try await stranger.listening { strange in
                let store = try self.store("/app/init?appName=bank", strange, site, useChallenge: true)
                await #expect(throws: (any Error).self) { try await store.update(mode: .forced) }
            }
        }
    }

    @Test("CertStore in static mode follows the list, and sends no challenge")
    func list() async throws {
        let site = try site()
        let list = try PinListDraft(entries([leaf])).signed(by: site.key)
        site.publish(documents: ["lists/bank.json": ServingSite.document(Array(list), end: Self.now + 86_400)])
        try await site.listening { port in
            let store = try store("/lists/bank.json", port, site, useChallenge: false)
            _ = try await store.update(mode: .forced)
            let policy = try store.policy(for: Self.name)
            #expect(try decision(policy, about: leaf))
            #expect(try !decision(policy, about: other))
        }
    }

    @Test("The policies of trust servers follow the signed document")
    func trustServer() async throws {
        let site = try site()
        let now = Date(timeIntervalSince1970: TimeInterval(Self.now))
        let trust = try TrustServerKey(customer: "acme", kind: .p256, at: now)
        let certificate = try X509Certificate(der: leaf.der)
        let document = try TrustServerDraft(
            customer: "acme",
            hosts: [
                TrustServerHost(
                    hostname: Self.name, port: 443, fingerprints: ["\(Digest(of: leaf.der))"],
                    publicKeys: [Base64.encode(certificate.subjectPublicKeyInfo)], validated: now)
            ], timestamp: now
        ).signed(by: trust)
        site.publish(documents: [
            "trust/acme.json.signed": ServingSite.document(
                Array(document), mediaType: "application/pkcs7-mime", refresh: 60, end: Self.now + 600)
        ])
        try await site.listening { port in
            var configuration = TrustServerConfiguration(
                url: try #require(URL(string: "http://127.0.0.1:\(port)/trust/acme.json.signed")),
                signer: try TrustServerSigner(certificate: trust.certificate), customer: "acme")
            configuration.secureDataStore = InMemoryDataStore()
            configuration.remoteDataProvider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)
            let store = try TrustServerStore(checking: configuration, logger: Self.quiet)
            _ = try await store.update(mode: .forced)
            let policy = try store.policy(for: Self.name, pinning: .certificate)
            #expect(try decision(policy, about: leaf))
            #expect(try !decision(policy, about: other))
        }
    }

    @Test(
        "Through nginx as a cache: documents are kept, compressed or not, and challenge answers never are",
        .needs(.program("nginx")))
    func nginx() async throws {
        let site = try site()
        let list = try PinListDraft(entries([leaf, other])).signed(by: site.key)
        site.publish(
            documents: ["lists/bank.json": ServingSite.document(Array(list), end: Self.now + 86_400)],
            apps: [try site.app(entries: entries([leaf]), end: Self.now + 86_400)])
        let settings = try ListenerSettings(port: 0, proxies: TrustedProxies([try .init("127.0.0.0/8")]))
        try await site.listening(settings) { port in
            try await CachingNginx.with(upstream: port) { cache in
                let client = RawClient(port: cache)
                let first = try await client.get("/lists/bank.json")
                let second = try await client.get("/lists/bank.json")
                #expect(first.header("X-Cache") == "MISS" && second.header("X-Cache") == "HIT", "\(first.text)")
                #expect(first.body == second.body && Data(second.body.utf8) == list)
                let tag = try #require(second.header("ETag"))
                #expect(try await client.get("/lists/bank.json", ["If-None-Match: \(tag)"]).status == 304)
                let gzip = try await client.request("HEAD", "/lists/bank.json", ["Accept-Encoding: gzip"])
                #expect(gzip.header("Content-Encoding") == "gzip" && gzip.header("ETag") != tag, "\(gzip.text)")
                for useChallenge in [true, false] {
                    let store = try store(
                        useChallenge ? "/app/init?appName=bank" : "/lists/bank.json", cache, site,
                        useChallenge: useChallenge)
                    // Each update has a challenge of its own: an answer from a cache would be refused.
                    for _ in 0..<3 { _ = try await store.update(mode: .forced) }
                    #expect(try decision(store.policy(for: Self.name), about: leaf))
                }
                let challenged = try await client.get(
                    "/app/init?appName=bank", ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="])
                #expect(challenged.status == 200 && challenged.header("X-Cache") != "HIT")
            }
        }
    }
}
