import Foundation
import Holdfast
import HoldfastProbe
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Another app of a world, whose only host really listens, and at which the watcher really looks.
struct Shop {
    private static let customer = "shop"

    let world: World
    let app: AppName
    let host: CatalogHost
    private let formats: [ContentFormat]
    /// Those who sign the targets of its repository; nil if it has none.
    private let holders: RepositoryHolders?
    /// DER of the root that phones trust.
    private let anchor: [UInt8]

    /// Adds an app, with a certificate for its host that lies in a safe, for the day on which another must be replaced at
    /// once. Nothing is published yet.
    /// - Parameters:
    ///   - kinds: lists, challenges, trust servers and repositories, as far as it has them.
    ///   - staleness: for how many days its clients go on with a replaced document.
    ///   - anchor: DER of the root that phones trust beside that of the world; nil for that alone.
    init(
        _ kinds: [ContentFormat.Kind], on port: Int, in world: World, staleness: Int64 = 7,
        trusting anchor: [UInt8]? = nil
    ) async throws {
        self.world = world
        app = try AppName("shop")
        host = try CatalogHost(name: World.host, port: Int64(port))
        self.anchor = anchor ?? world.root.root
        let catalog = world.catalog
        try await catalog.addApp(
            app, displayName: "Shop",
            settings: AppSettings(
                staleness: staleness * 86_400, canary: 0,
                anchors: [world.root.root] + (anchor.map { [$0] } ?? []), builds: []), by: "operator")
        try await catalog.set(host, of: app, by: "operator")
        let list = try SealedKey(
            sealing: SigningKey().pem, at: SealedKeyTests.place("shop-1", app: "shop"), with: World.secret())
        try await catalog.add(Catalog.Key(sealed: list), by: "operator")
        let trust = try TrustServerKey(customer: Self.customer, kind: .p256, at: world.clock.now)
        let sealed = try SealedKey(
            sealing: trust.privateKeyPEM, at: SealedKeyTests.place("shop-2", .trustServer, app: "shop"),
            with: World.secret())
        try await catalog.add(Catalog.Key(sealed: sealed, certificate: Array(trust.certificate)), by: "operator")
        holders = kinds.contains(.repository) ? RepositoryHolders() : nil
        if let holders { try await world.publisher.begin(app, holders, in: world.folder) }
        let root = try await catalog.firstRoot(of: app)
        formats = try kinds.map { kind in
            switch kind {
            case .trustServer: try ContentFormat(.trustServer, refresh: 300, customer: Self.customer)
            case .repository: try ContentFormat(.repository, refresh: 21_600, root: root)
            default: try ContentFormat(kind, refresh: 3_600)
            }
        }
        let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
        try await announce(spare.chain, in: 1)
    }

    /// An app with lists and challenges that was added in another way.
    init(added name: String, on host: CatalogHost, in world: World) throws {
        (self.world, self.host) = (world, host)
        app = try AppName(name)
        (holders, anchor) = (nil, world.root.root)
        formats = try [ContentFormat.Kind.list, .challenge].map { try ContentFormat($0, refresh: 3_600) }
    }

    /// The owner of the host announces a chain.
    /// - Parameter wait: after how many seconds it may be shown.
    func announce(_ chain: [[UInt8]], in wait: Int64) async throws {
        try await world.catalog.announce(
            CertificateChain(chain), from: world.now + wait, on: host, of: app, by: "owner")
    }

    /// Proposes what follows from what was announced, has it approved and signed, and publishes it.
    func publish() async throws {
        let change = try await propose()
        try await world.approve(change)
        if let holders { try await world.publisher.sign(change, holders, in: world.folder) }
        guard case .published = try await world.publisher.publish(change).stage else {
            Issue.record("not published")
            return
        }
    }

    /// Proposes what follows from what was announced.
    func propose() async throws -> RandomID {
        let content = try await world.catalog.draft(of: app, Catalog.DraftOptions(formats: formats))
        let proposal = try await world.propose(content)
        // The targets are signed once it is approved.
        #expect(proposal.report.refusal.map { $0.gate == .signatures } ?? true, "\(proposal.report)")
        return proposal.change
    }

    /// Looks at the host.
    /// - Parameters:
    ///   - addresses: what its name resolves to.
    ///   - deadlines: how long it may take.
    func look(
        resolvingTo addresses: [String] = ["127.0.0.1"], within deadlines: ProbeDeadlines = ProbeDeadlines()
    ) async throws -> Watcher.Report {
        let found = try addresses.map { try IPAddress($0) }
        var settings = Watcher.Settings()
        settings.allowed = [try AddressBlock("127.0.0.0/8")]
        settings.clock = world.clock
        settings.resolver = AddressResolver { _ in found }
        settings.deadlines = deadlines
        var generator = SystemRandomNumberGenerator()
        let watcher = Watcher(world.catalog, settings, logger: AdministrationSite.quiet)
        return try #require(try await watcher.look(at: app, using: &generator).first)
    }

    /// The watcher's verdict about each address, in their order.
    func verdicts(at addresses: String...) async throws -> [WatchFinding.Verdict] {
        try await look(resolvingTo: addresses.isEmpty ? ["127.0.0.1"] : addresses).findings
            .sorted { $0.place < $1.place }.map(\.verdict)
    }

    /// Its apps in the field; none is installed yet.
    func fleet() async throws -> Fleet {
        let path = "repo/\(app)/metadata/1.root.json"
        let root = world.publisher.live.current.document(at: path.utf8).map { Data($0.bytes) }
        let provider = SnapshotProvider(live: world.publisher.live, app: app, clock: world.clock)
        return try await Fleet(
            Fleet.Build(
                catalog: world.catalog, app: app, host: host, clock: world.clock, base: "https://pins.example.com",
                provider: { provider }, anchor: anchor, customer: Self.customer, kinds: Set(formats.map(\.kind)),
                root: root))
    }
}
