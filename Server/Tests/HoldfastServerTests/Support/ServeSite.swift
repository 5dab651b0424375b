import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Logging
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// A server's folder on the machine's clock: an app with keys, a host, and what it showed. The test works on it with the
/// library, as another process beside the one that serves.
struct ServeSite: Sendable {
    let folder: URL
    let server: ServerFolder
    let open: ServerFolder.Open
    let root: TestAuthority
    let shown: TestCertificate
    let announced: TestCertificate
    let app: AppName
    let publicKey: String
    let listKey: SigningKey
    let trust: TrustServerKey
    let clock = SystemWallClock()

    var data: String { server.url.path }
    var secret: URL { folder.appending(path: "secret") }
    var now: Int64 { Int64(clock.now.timeIntervalSince1970) }

    /// Runs a test on a folder that is gone afterwards.
    /// - Parameters:
    ///   - parent: where the folder is made; nil for the usual place of temporary files.
    ///   - database: where its data go; nil for the folder.
    static func run(
        data parent: URL? = nil, database: PostgreSQLAddress? = nil, _ body: (ServeSite) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let site = try await ServeSite(in: folder, data: (parent ?? folder).appending(path: "data"), database)
            try await body(site)
            await site.open.engine.close()
        }
    }

    private init(in folder: URL, data: URL, _ database: PostgreSQLAddress?) async throws {
        self.folder = folder
        server = ServerFolder(data, database: database)
        root = try TestAuthority.root()
        shown = try root.leaf(names: [.dns(World.host)])
        announced = try root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
        app = try AppName("bank")
        var generator = SystemRandomNumberGenerator()
        let secret = try await server.create(
            genesis: try Story().genesis, secret: SecretFile(folder.appending(path: "secret")), clock: clock,
            using: &generator)
        open = try await server.open(clock: clock)
        let catalog = open.catalog
        try await catalog.addApp(
            app, displayName: "Bank", settings: AppSettings(canary: 0, anchors: [root.root], builds: []), by: "test")
        let host = try CatalogHost(name: World.host)
        try await catalog.set(host, of: app, by: "test")
        listKey = SigningKey()
        publicKey = try listKey.publicKey.base64
        try await catalog.add(
            Catalog.Key(sealed: SealedKey(sealing: listKey.pem, at: place(app, .fingerprints), with: secret)),
            by: "test")
        trust = try TrustServerKey(customer: World.customer, kind: .p256, at: clock.now)
        try await catalog.add(
            Catalog.Key(
                sealed: SealedKey(sealing: trust.privateKeyPEM, at: place(app, .trustServer), with: secret),
                certificate: Array(trust.certificate)), by: "test")
        let now = Int64(clock.now.timeIntervalSince1970)
        for (certificate, begins) in [(shown, now), (announced, now + World.month)] {
            try await catalog.announce(CertificateChain(certificate.chain), from: begins, on: host, of: app, by: "test")
        }
        let seen = try Observation(
            vantage: Vantage.usual, address: "192.0.2.1", chain: CertificateChain(shown.chain), firstSeen: now,
            lastSeen: now)
        try await catalog.note([(host: host, seen: [seen])], from: Vantage.usual, of: app, by: "test")
        func place(_ app: AppName, _ purpose: SealedKey.Purpose) throws -> SealedKey.Place {
            try SealedKey.Place(server: Story.server, app: app, id: "\(purpose)-1", purpose: purpose)
        }
    }

    /// The same server, in another folder.
    init(_ site: ServeSite, movedTo server: ServerFolder, _ open: ServerFolder.Open) {
        self.server = server
        self.open = open
        (folder, root, shown, announced, app) = (site.folder, site.root, site.shown, site.announced, site.app)
        (publicKey, listKey, trust) = (site.publicKey, site.listKey, site.trust)
    }

    /// Proposes and approves, and leaves it at that.
    func approvedChange(
        until days: Int64 = 180, formats: [ContentFormat] = World.formats
    ) async throws -> RandomID {
        var generator = SystemRandomNumberGenerator()
        let content = try await open.catalog.draft(
            of: app, Catalog.DraftOptions(formats: formats, lifetime: days * 86_400))
        let change = try await open.publisher.propose(
            content, proposer: nil, reason: "a test", by: "operator", using: &generator
        ).change
        for approver in [Approver.alice, .bob] {
            let subject = try await open.catalog.change(change).subject(for: open.catalog.approvers())
            try await open.catalog.add(try approver.says(.approve, subject, until: now + 86_400))
        }
        return change
    }

    /// Proposes, approves and publishes, and has every kind of client follow.
    @discardableResult
    func publish(until days: Int64 = 180) async throws -> Int64 {
        let change = try await approvedChange(until: days)
        guard case .published(let generation) = try await open.publisher.publish(change).stage else { return 0 }
        try await everybodyFollows()
        return generation
    }

    // MARK: Clients

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    func certStore(
        _ port: Int, challenging: Bool, clock: any WallClock = SystemWallClock()
    ) throws -> CertStore {
        let path = challenging ? "app/init?appName=\(app)" : "lists/\(app).json"
        return try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "http://127.0.0.1:\(port)/\(path)")), publicKey: publicKey,
                useChallenge: challenging),
            secureDataStore: InMemoryDataStore(),
            remoteDataProvider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true), clock: clock,
            logger: Self.quiet)
    }

    /// The clients that start now, download, and let a certificate in, by the names in `ServedClients.swift`.
    /// - Parameter clock: what time it is where they are.
    func clientsThatLetIn(
        _ certificate: TestCertificate, _ port: Int, clock: any WallClock = SystemWallClock()
    ) async throws -> Set<String> {
        var names: Set<String> = []
        for challenging in [false, true] {
            let store = try certStore(port, challenging: challenging, clock: clock)
            guard (try? await store.update(mode: .forced))?.error == nil else { continue }
            if letsIn(certificate, try? store.policy(for: World.host), at: clock) {
                names.insert(challenging ? "challenge" : "list")
            }
        }
        var configuration = TrustServerConfiguration(
            url: try #require(URL(string: "http://127.0.0.1:\(port)/trust/\(World.customer).json.signed")),
            signer: try TrustServerSigner(certificate: trust.certificate), customer: World.customer)
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)
        let store = try TrustServerStore(checking: configuration, clock: clock, logger: Self.quiet)
        _ = try? await store.update(mode: .forced)
        for (name, subject) in [("certificates", Pin.Subject.certificate), ("keys", .publicKey)]
        where letsIn(certificate, try? store.policy(for: World.host, pinning: subject), at: clock) {
            names.insert(name)
        }
        let file = try await RawClient(port: port).get("/pins/\(app).pins.json")
        if file.status == 200,
            try PinFile(json: Data(file.body.utf8)).policies().allSatisfy({ letsIn(certificate, $0, at: clock) })
        {
            names.insert("pin file")
        }
        return names
    }

    private func letsIn(
        _ certificate: TestCertificate, _ policy: (any TrustPolicy)?, at clock: any WallClock
    ) -> Bool {
        guard let policy, let anchors = try? TrustAnchors(der: [root.root]),
            let host = try? DialedHost(World.host, port: 443)
        else { return false }
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain), purpose: .server(identity: host),
            validator: PathValidator(anchors: anchors))
        return policy.evaluate(trust, at: clock.now).isTrusted
    }
}
