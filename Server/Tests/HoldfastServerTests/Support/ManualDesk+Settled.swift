import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// A server whose beginning lies behind it. The library makes it, since commands take seconds for each step.
extension ManualDesk {
    /// Those who approve, of whom two must agree.
    static let approvers = ["alice", "bob", "carol"]
    /// Those who may come after them.
    private static let successors = ["dave", "eve"]
    private static let vaults = ["vault-1", "vault-2", "vault-3"]

    /// Makes the start of a procedure: approvers with keys, a server that has published a list, and a backup's key.
    /// - Parameters:
    ///   - clock: when the server was made; tests end at the time of the system.
    ///   - days: for how many days documents may be signed.
    static func settled(in folder: URL, clock: any WallClock, days: Int64 = 180) async throws -> ManualDesk {
        var desk = try await ManualDesk(in: folder, clock: clock)
        for name in approvers + successors + vaults {
            try desk.write("\(name).pem", try #require(TUFSigningKey().pem))
            try desk.write("\(name).password", "for \(name) alone")
            let read = try desk.privateKey(name).key
            try Data(read.subjectPublicKeyInfo).write(to: folder.appending(path: "\(name).pub"))
        }
        let backup = SigningKey()
        try desk.write("backup.pem", backup.pem)
        try desk.write("backup.pub", "\(backup.publicKey.base64)\n")
        let members = try approvers.map { try desk.member($0) }
        var generator = SystemRandomNumberGenerator()
        let statement = try ApproverStatement(
            genesisOf: RandomID(using: &generator), approvers: ApproverSet(members, number: 2),
            recovery: ApproverSet(try vaults.map { try desk.member($0) }, number: 2))
        let genesis = SignedApprovers(
            text: statement.bytes,
            signatures: try approvers.map { try desk.privateKey($0).signature(of: statement.bytes) })
        let secret = try await desk.server.create(
            genesis: genesis, secret: SecretFile(folder.appending(path: "etc/holdfast/secret")), clock: clock,
            using: &generator)
        let prepared = desk
        desk.publicKey = try await prepared.work(at: clock) { open in
            let app = try AppName("bank")
            try await open.catalog.addApp(
                app, displayName: "Bank",
                settings: AppSettings(canary: 0, anchors: [prepared.authority.root], builds: []), by: "operator")
            let key = SigningKey()
            let place = try SealedKey.Place(
                server: statement.server, app: app, id: "list-1", purpose: .fingerprints)
            try await open.catalog.add(
                Catalog.Key(sealed: SealedKey(sealing: key.pem, at: place, with: secret)), by: "operator")
            try await open.catalog.set(prepared.catalogHost, of: app, by: "operator")
            try await prepared.announce(prepared.next, on: open)
            try await prepared.see(prepared.shown, on: open)
            try await prepared.publish(on: open, formats: [ContentFormat(.list, refresh: 3_600)], days: days)
            return try key.publicKey.base64
        }
        return desk
    }

    var server: ServerFolder { ServerFolder(folder.appending(path: "srv/pins")) }

    var catalogHost: CatalogHost {
        get throws { try CatalogHost(name: World.host, port: Int64(host.port), dial: host.address) }
    }

    /// The app of the page.
    private var app: AppName { get throws { try AppName("bank") } }

    /// An approver's key, as a file has it.
    func privateKey(_ name: String) throws -> ApproverPrivateKey {
        try ApproverPrivateKey(
            pem: String(contentsOf: folder.appending(path: "\(name).pem"), encoding: .utf8))
    }

    private func member(_ name: String) throws -> ApproverSet.Member {
        try ApproverSet.Member(name: name, key: privateKey(name).key)
    }

    /// Works on the server as a command does, at some time.
    func work<Value>(
        at clock: any WallClock = SystemWallClock(), _ body: (ServerFolder.Open) async throws -> Value
    ) async throws -> Value {
        // The uptime of a machine whose clock is turned is unknown.
        let open = try await server.open(clock: clock, steady: SteadyTime(boot: nil) { 0 })
        do {
            let value = try await body(open)
            await open.engine.close()
            return value
        } catch {
            await open.engine.close()
            throw error
        }
    }

    /// Announces a certificate, to be shown in 31 days.
    func announce(_ certificate: TestCertificate, on open: ServerFolder.Open) async throws {
        try await open.catalog.announce(
            CertificateChain(certificate.chain), from: try await open.catalog.now() + World.month, on: catalogHost,
            of: app,
            by: "operator")
    }

    /// The host was seen with a certificate, from two places.
    func see(
        _ certificate: TestCertificate, at address: String? = nil, on open: ServerFolder.Open
    ) async throws {
        let now = try await open.catalog.now()
        for vantage in [Vantage.usual, "elsewhere"] {
            let seen = Observation(
                vantage: vantage, address: address ?? "\(host.address):\(host.port)",
                chain: try CertificateChain(certificate.chain), firstSeen: now, lastSeen: now)
            try await open.catalog.note([(host: catalogHost, seen: [seen])], from: vantage, of: app, by: "watcher")
        }
    }

    /// Proposes what follows from what was announced.
    @discardableResult
    func propose(
        on open: ServerFolder.Open, formats: [ContentFormat]? = nil, days: Int64 = 180
    ) async throws -> RandomID {
        var generator = SystemRandomNumberGenerator()
        let content = try await open.catalog.draft(
            of: app, Catalog.DraftOptions(formats: formats, includesSeen: true, lifetime: days * 86_400))
        return try await open.publisher.propose(
            content, proposer: nil, reason: "a test", by: "operator", using: &generator
        ).change
    }

    /// Approves a change.
    func approve(_ change: RandomID, by names: [String], on open: ServerFolder.Open) async throws {
        let subject = try await open.catalog.change(change).subject(for: open.catalog.approvers())
        let end = try await open.catalog.now() + 3_600
        for name in names {
            let text = try ApprovalText(.approve, subject, end: end).bytes
            try await open.catalog.add(
                SignedApproval(text: text, signature: privateKey(name).signature(of: text)))
        }
    }

    /// Proposes, has alice and bob approve, and publishes; every kind of client follows.
    func publish(
        on open: ServerFolder.Open, formats: [ContentFormat]? = nil, days: Int64 = 180
    ) async throws {
        let change = try await propose(on: open, formats: formats, days: days)
        try await approve(change, by: ["alice", "bob"], on: open)
        try await open.publisher.publish(change)
        let now = Date(timeIntervalSince1970: Double(try await open.catalog.now()))
        try await open.publisher.everybodyFollows(
            app, lettingIn: [shown, next], trusting: authority, clock: ManualClock(now: now), hostPort: host.port,
            isThorough: false)
    }

    /// Has every kind of client follow what commands have published.
    /// - Parameter accepted: what all let in; nil for what the host shows and will show.
    func everybodyFollows(
        lettingIn accepted: [TestCertificate]? = nil, refusing refused: [TestCertificate] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await server.everybodyFollows(
            lettingIn: accepted ?? [shown, next], refusing: refused, trusting: authority, hostPort: host.port,
            isThorough: false, sourceLocation: sourceLocation)
    }

    /// An app that asks for the list in the public folder, and keeps what it got in a storage.
    func phone(keeping storage: InMemoryDataStore, from data: String = "srv/pins") throws -> CertStore {
        try store(
            "https://pins.example.com/lists/bank.json",
            FolderProvider(folder: folder.appending(path: "\(data)/public")), storage: storage)
    }
}
