import Foundation
import Holdfast
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

/// A server with one app, one host, a certificate that it shows and one that it announced, on a clock that a test turns.
struct World: Sendable {
    static let host = "api.example.com"
    static let customer = "gcx"

    let folder: URL
    let clock: ManualClock
    let engine: any StorageEngine
    let catalog: Catalog
    let publisher: Publisher
    let root: TestAuthority
    /// The certificate that the host presents.
    let shown: TestCertificate
    /// The certificate that it announced, to be presented in 31 days.
    let announced: TestCertificate
    let app: AppName
    let catalogHost: CatalogHost
    let story: Story

    static let month: Int64 = 31 * 86_400
    static let formats: [ContentFormat] = {
        let kinds: [ContentFormat.Kind] = [.list, .challenge, .pinFile]
        return kinds.compactMap { try? ContentFormat($0, refresh: 3_600) }
            + [try? ContentFormat(.trustServer, refresh: 300, customer: customer)].compactMap(\.self)
    }()

    static func secret() -> SigningSecret { SealedKeyTests.secret() }

    /// Runs a test in a new world.
    /// - Parameter start: when it begins, in seconds since 1970.
    static func run(
        number: Int = 2, canary: Int64 = 0, at start: Int64 = Story.now, _ body: (World) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let world = try await World(in: folder, number: number, canary: canary, at: start)
            try await body(world)
            await world.engine.close()
        }
    }

    private init(in folder: URL, number: Int, canary: Int64, at start: Int64) async throws {
        self.folder = folder
        clock = ManualClock(now: Date(timeIntervalSince1970: TimeInterval(start)))
        engine =
            if let address = try await WorldDatabase.address() {
                try await PostgreSQLEngine.open(address, clock: clock)
            } else {
                try SQLiteEngine(folder.appending(path: "server.db"), clock: clock)
            }
        story = try Story(number: number)
        catalog = try await Catalog(
            creating: engine, server: Story.server, genesis: story.genesis,
            head: HeadFile(folder.appending(path: "head")), time: Self.time(clock, in: folder),
            secrets: [Self.secret()])
        root = try TestAuthority.root(clock: clock)
        shown = try root.leaf(names: [.dns(Self.host)])
        announced = try root.leaf(names: [.dns(Self.host)]) { $0.notAfter = .days(180) }
        app = try AppName("bank")
        catalogHost = try CatalogHost(name: Self.host)
        try await catalog.addApp(
            app, displayName: "Bank",
            settings: AppSettings(canary: canary, anchors: [root.root], builds: []), by: "operator")
        try await catalog.set(catalogHost, of: app, by: "operator")
        publisher = Publisher(
            catalog,
            folder: PublicFolder(folder.appending(path: "public"), versions: folder.appending(path: "versions")),
            secret: Self.secret())
        try await addKeys()
        try await catalog.announce(
            CertificateChain(announced.chain), from: start + Self.month, on: catalogHost, of: app, by: "operator")
        try await see(shown)
    }

    /// The same world, with a server that was restored.
    init(_ world: World, as open: ServerFolder.Open, in folder: URL) {
        self.folder = folder
        (clock, root, shown, announced) = (world.clock, world.root, world.shown, world.announced)
        (app, catalogHost, story) = (world.app, world.catalogHost, world.story)
        (engine, catalog, publisher) = (open.engine, open.catalog, open.publisher)
    }

    private func addKeys() async throws {
        let list = try SealedKey(
            sealing: SigningKey().pem, at: SealedKeyTests.place("list-1"), with: Self.secret())
        try await catalog.add(Catalog.Key(sealed: list), by: "operator")
        let trust = try TrustServerKey(customer: Self.customer, kind: .p256, at: clock.now)
        let sealed = try SealedKey(
            sealing: trust.privateKeyPEM, at: SealedKeyTests.place("trust-1", .trustServer), with: Self.secret())
        try await catalog.add(Catalog.Key(sealed: sealed, certificate: Array(trust.certificate)), by: "operator")
    }

    /// The seconds since the machine started: it never sleeps, and its clock is never set.
    var steady: SteadyTime { Self.steady(clock) }

    private static func steady(_ clock: ManualClock) -> SteadyTime {
        SteadyTime(boot: "test") { Int64(clock.now.timeIntervalSince1970) }
    }

    /// The time of a process on a folder.
    static func time(_ clock: ManualClock, in folder: URL) -> ServerTime {
        ServerTime(clock, steady: steady(clock), file: folder.appending(path: "clock"))
    }

    /// The publisher of another process on the same folder.
    func another(_ engine: any StorageEngine) async throws -> Publisher {
        let catalog = try await Catalog(
            engine, server: Story.server, genesis: Digest(of: story.genesis.text),
            head: HeadFile(folder.appending(path: "head")), time: Self.time(clock, in: folder))
        return Publisher(catalog, folder: publisher.folder, secret: Self.secret())
    }

    /// A database of another process on the same folder, before whose next transaction that writes something can be done.
    func interruptible() throws -> InterruptedEngine {
        InterruptedEngine(try SQLiteEngine(folder.appending(path: "server.db"), clock: clock))
    }

    /// Another app with the same host, a list, and something approved for it.
    func addApp(_ name: String) async throws -> (app: AppName, change: RandomID) {
        let app = try AppName(name)
        try await catalog.addApp(
            app, displayName: name, settings: AppSettings(canary: 0, anchors: [root.root], builds: []), by: "operator")
        try await catalog.set(catalogHost, of: app, by: "operator")
        try await catalog.announce(
            CertificateChain(announced.chain), from: Story.now + Self.month, on: catalogHost, of: app, by: "operator")
        try await see(shown, of: app)
        let key = try SealedKey(
            sealing: SigningKey().pem, at: SealedKeyTests.place("\(name)-1", app: name), with: Self.secret())
        try await catalog.add(Catalog.Key(sealed: key), by: "operator")
        let content = try await catalog.draft(
            of: app,
            Catalog.DraftOptions(
                formats: [ContentFormat(.list, refresh: 3_600), ContentFormat(.challenge, refresh: 3_600)],
                includesSeen: true))
        let change = try await propose(content).change
        try await approve(change)
        return (app, change)
    }

    var now: Int64 { Int64(clock.now.timeIntervalSince1970) }

    /// The host shows a certificate now, from wherever one looks.
    func see(
        _ certificate: TestCertificate, of app: AppName? = nil, on host: CatalogHost? = nil,
        at address: String = "192.0.2.1",
        from vantages: [String] = ["here", "there"]
    ) async throws {
        for vantage in vantages {
            let seen = Observation(
                vantage: vantage, address: address, chain: try CertificateChain(certificate.chain), firstSeen: now,
                lastSeen: now)
            try await catalog.note(
                [(host: host ?? catalogHost, seen: [seen])], from: vantage, of: app ?? self.app, by: "test")
        }
    }

    /// Time passes, and the host is seen again with the same certificate.
    func pass(_ seconds: Int64, showing certificate: TestCertificate? = nil) async throws {
        clock.advance(by: .seconds(seconds))
        try await see(certificate ?? shown)
    }

    /// Two formats: an outlook of all takes a second.
    static let fewFormats = formats.filter { $0.kind == .list || $0.kind == .trustServer }

    /// Proposes a content with a certificate of its own, and approves it.
    func approved(_ formats: [ContentFormat] = fewFormats) async throws -> (change: RandomID, certificate: [UInt8]) {
        let spare = try root.leaf(names: [.dns(Self.host)])
        try await catalog.announce(
            CertificateChain(spare.chain), from: now + 2 * Self.month, on: catalogHost, of: app, by: "operator")
        let change = try await propose(draft { $0.formats = formats }).change
        try await approve(change)
        return (change, spare.der)
    }

    func draft(_ change: (inout Catalog.DraftOptions) throws -> Void = { _ in }) async throws -> Content {
        var wishes = Catalog.DraftOptions(formats: Self.formats, includesSeen: true)
        try change(&wishes)
        return try await catalog.draft(of: app, wishes)
    }

    func propose(
        _ content: Content? = nil, forcing: Set<Gate> = [], proposer: ServerFoundation.Digest? = nil
    ) async throws -> Publisher.Proposal {
        var generator = SystemRandomNumberGenerator()
        let content = if let content { content } else { try await draft() }
        return try await publisher.propose(
            content, forcing: forcing, proposer: proposer, reason: "a test", by: "operator",
            using: &generator)
    }

    /// An approver's statement about a change.
    func statement(
        _ approver: Approver, _ verdict: ApprovalText.Verdict = .approve, of change: RandomID, until end: Int64? = nil
    ) async throws -> SignedApproval {
        let chain = try await catalog.approvers()
        let subject = try await catalog.change(change).subject(for: chain)
        return try approver.says(verdict, subject, until: end ?? now + 86_400)
    }

    func approve(_ change: RandomID, by approvers: [Approver] = [.alice, .bob]) async throws {
        for approver in approvers { try await catalog.add(try await statement(approver, of: change)) }
    }

    /// Proposes, approves and publishes, and has every kind of client follow.
    @discardableResult
    func publish(_ content: Content? = nil, forcing: Set<Gate> = []) async throws -> RandomID {
        let proposal = try await propose(content, forcing: forcing)
        try await approve(proposal.change)
        try await publisher.publish(proposal.change)
        // `holdfastctl check` takes a process for each document: once is enough.
        try await everybodyFollows(isThorough: catalog.ledger.generation(of: app) == 1)
        return proposal.change
    }
}

extension TestCertificate {
    var subjectPublicKeyInfo: [UInt8] {
        get throws { Array(try X509Certificate(der: der).subjectPublicKeyInfo) }
    }
}
