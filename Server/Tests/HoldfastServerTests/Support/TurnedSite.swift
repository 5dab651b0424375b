import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// A server of one app whose process, and whose commands, go by a clock that the test turns. The app's only host really
/// listens.
struct TurnedSite: Sendable {
    let folder: URL
    let clock: TurnedClock
    let root: TestAuthority
    /// Below the root.
    let issuer: TestAuthority
    /// The certificate that the host presents at first.
    let first: TestCertificate
    let host: LoopbackTLSServer
    let app: AppName
    let process: ServingProcess
    /// The library on the same folder, by the same clock.
    let open: ServerFolder.Open
    private let server: ServerFolder
    private let holders = RepositoryHolders()
    /// A certificate in a safe, for the day on which another must be replaced at once.
    private let spare: TestCertificate

    /// Runs a test with a server that serves, and has nothing to serve yet.
    /// - Parameters:
    ///   - staleness: for how many seconds clients go on with a replaced document.
    ///   - days: for how many days the first certificate is valid that the host shows.
    static func run(
        staleness: Int64, days: Int64, _ body: (TurnedSite) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let clock = try await TurnedClock(in: folder)
            let root = try TestAuthority.root(clock: clock)
            let issuer = try root.intermediate(name: "Issuing CA 0")
            let first = try leaf(issuer, days)
            try await withLoopbackTLSServer(serving: first) { host in
                let site = try await TurnedSite(in: folder, clock, root, issuer, first, host, staleness)
                let result: Result<Void, any Error>
                do { result = .success(try await body(site)) } catch { result = .failure(error) }
                #expect(await site.process.stop() == 0)
                WrongClock.clean(site.process)
                await site.open.engine.close()
                try result.get()
            }
        }
    }

    private init(
        in folder: URL, _ clock: TurnedClock, _ root: TestAuthority, _ issuer: TestAuthority,
        _ first: TestCertificate, _ host: LoopbackTLSServer, _ staleness: Int64
    ) async throws {
        (self.folder, self.clock, self.host) = (folder, clock, host)
        (self.root, self.issuer, self.first) = (root, issuer, first)
        app = try AppName("bank")
        spare = try root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(400) }
        server = ServerFolder(folder.appending(path: "data"))
        var generator = SystemRandomNumberGenerator()
        let secret = try await server.create(
            genesis: try Story().genesis, secret: SecretFile(folder.appending(path: "secret")), clock: clock,
            using: &generator)
        open = try await server.open(clock: clock, steady: clock.steady)
        let catalog = open.catalog
        try await catalog.addApp(
            app, displayName: "Bank",
            settings: AppSettings(staleness: staleness, canary: 0, anchors: [root.root], builds: []), by: "test")
        let trust = try TrustServerKey(customer: World.customer, kind: .p256, at: clock.now)
        let keys: [(SealedKey.Purpose, String, [UInt8]?)] = [
            (.fingerprints, SigningKey().pem, nil), (.trustServer, trust.privateKeyPEM, Array(trust.certificate)),
        ]
        for (purpose, pem, certificate) in keys {
            let place = try SealedKey.Place(server: Story.server, app: app, id: "\(purpose)-1", purpose: purpose)
            let sealed = try SealedKey(sealing: pem, at: place, with: secret)
            try await catalog.add(Catalog.Key(sealed: sealed, certificate: certificate), by: "test")
        }
        try await open.publisher.begin(app, holders, in: folder)
        let address = try CatalogHost(name: World.host, port: Int64(host.port), dial: host.address)
        try await catalog.set(address, of: app, by: "test")
        let begins = Int64(clock.now.timeIntervalSince1970)
        for (certificate, time) in [(first, begins), (spare, begins + World.month)] {
            try await catalog.announce(
                CertificateChain(certificate.chain), from: time, on: address, of: app, by: "owner")
        }
        for approver in [Approver.alice, .bob] {
            let file = folder.appending(path: "\(approver.name).pem")
            try Data(try approver.pem.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        process = try await ServingProcess.start(
            on: server, ["--allow", "127.0.0.0/8"], wrappedBy: WrongClock.wrapper, environment: clock.environment)
    }

    var now: Int64 { Int64(clock.now.timeIntervalSince1970) }

    /// A certificate that an authority issues for the host.
    static func leaf(_ issuer: TestAuthority, _ days: Int64) throws -> TestCertificate {
        try issuer.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(Double(days)) }
    }

    /// For how many seconds a certificate is still valid.
    func left(of certificate: TestCertificate) throws -> Double {
        try #require(certificate.notAfter).timeIntervalSince(clock.now)
    }

    private var catalogHost: CatalogHost {
        get throws { try CatalogHost(name: World.host, port: Int64(host.port), dial: host.address) }
    }

    // MARK: What people do

    /// Runs a command of that day.
    /// - Parameters:
    ///   - words: what it says; nil for a command that may say nothing.
    ///   - statuses: with which it may end.
    /// - Returns: how it ended, and what it said.
    @discardableResult
    private func command(
        _ arguments: String..., saying words: String? = nil, endingWith statuses: Set<Int32> = [0]
    ) async throws -> (status: Int32, text: String) {
        let command = try ServingProcess(
            WrongClock.wrapper + [ServerProgram.url.path] + arguments + ["--data", server.url.path], in: folder,
            environment: clock.environment)
        defer { WrongClock.clean(command) }
        if let words { try await command.says(words) }
        let status = await command.status()
        #expect(statuses.contains(status), "\(arguments): \(command.text)")
        return (status, command.text)
    }

    /// The owner of the host announces what it will show.
    func announce(_ certificate: TestCertificate, from time: Date) async throws {
        let file = folder.appending(path: "\(Digest(of: certificate.der)).pem")
        try Data(certificate.chainPEM.utf8).write(to: file)
        try await command(
            "next", "chain", "\(app)", try catalogHost.label, "--chain", file.path, "--from",
            time.formatted(.iso8601))
    }

    /// Proposes what follows from what was announced, has two people approve it and its targets signed, publishes it,
    /// and waits until it is served.
    func publish() async throws {
        _ = try await open.catalog.now()
        let generation = open.catalog.ledger.generation(of: app) + 1
        // Targets are signed after people have approved, so that gate is not passed yet.
        let proposed = try await command(
            "change", "propose", "\(app)", "--format", "list", "--format", "challenge", "--format",
            "trust-server=\(World.customer)", "--format", "repository", "--no-proposer", "--reason", "a renewal",
            saying: "gate signatures: ")
        let id = String(try #require(proposed.text.firstMatch(of: /change ([0-9a-f]+)/), "\(proposed.text)").1)
        for name in ["alice", "bob"] {
            try await command("approve", id, "--key", "\(name).pem", "--yes", saying: "approve: \(name)")
        }
        try await open.publisher.sign(try #require(RandomID(hex: id.utf8)), holders, in: folder)
        let said = process.text.utf8.count
        try await command("publish", id, saying: "published: generation \(generation)")
        try await process.says("serving \(app): generation \(generation)", after: said)
    }

    /// Asks the gate about a certificate.
    /// - Returns: from when on it may be installed; nil if that is now.
    func gate(_ certificate: TestCertificate) async throws -> Date? {
        let (status, text) = try await command(
            "gate", "\(app)", try catalogHost.label, "--digest", "\(Digest(of: certificate.der))", saying: "client",
            endingWith: [0, 1])
        guard status != 0 else { return nil }
        let words = try #require(text.firstMatch(of: /not yet: .*; ask again from (\S+) on/), "\(text)")
        return try Date(String(words.1), strategy: .iso8601)
    }

    // MARK: What the server does

    /// The version of the newest timestamp of the repository that it serves; nil for none.
    func version() async throws -> Int64? {
        struct Timestamp: Decodable {
            struct Signed: Decodable { let version: Int64 }
            let signed: Signed
        }
        let answer = try await RawClient(port: process.port).get("/repo/\(app)/metadata/timestamp.json")
        guard answer.status == 200 else { return nil }
        return try JSONDecoder().decode(Timestamp.self, from: Data(answer.body.utf8)).signed.version
    }

    /// Waits until the server has signed again what it has to, and has looked at the host. No version goes back.
    /// - Parameters:
    ///   - version: what it served before.
    ///   - shown: what the host shows.
    /// - Returns: what it serves.
    func settle(after version: Int64, showing shown: TestCertificate) async throws -> Int64 {
        let (time, from) = (now, clock.now.formatted(.iso8601))
        // Each line of the log begins with the time, by the clock that was turned.
        try await eventually("a round is signed: \(process.text.suffix(2_000))") {
            process.text.split(separator: "\n").contains {
                $0.contains("signed again: ") && $0.contains("trust/") && $0.prefix(from.count) >= from
            }
        }
        let served = try #require(try await self.version())
        #expect(served >= version)
        try await see(shown, from: time)
        let ready = try await RawClient(port: process.port).get("/health/writable")
        #expect(ready.status == 200, "\(ready.text)")
        return served
    }

    /// Waits until the server has looked at the host, and finds that it knew what that shows.
    func see(_ shown: TestCertificate, from time: Int64) async throws {
        let host = try catalogHost
        try await eventually("the host is looked at: \(process.text.suffix(2_000))") {
            try await open.catalog.observations(of: host, app).contains {
                $0.lastSeen >= time && $0.chain?.certificates.first == shown.der
            }
        }
        _ = try await open.catalog.now()
        #expect(open.catalog.ledger.alarms.isEmpty)
    }

    /// Expects that each version of each document was signed once, and later than the one before.
    func signedOnce() async throws {
        var newest: [String: (version: Int64, time: Int64)] = [:]
        var place: Int64 = -1
        while case let page = try await open.catalog.audit(after: place, limit: 1_000), !page.isEmpty {
            place += Int64(page.count)
            for entry in try page.map({ try AuditEntry($0) }) where entry.event == .signed {
                let path = entry.facts["format"] ?? ""
                let version = try #require(Int64(entry.facts["version"] ?? ""))
                let before = newest.updateValue((version, entry.time), forKey: path) ?? (0, 0)
                #expect(version > before.version && entry.time >= before.time, "\(path) \(version)")
            }
        }
        #expect(newest.count >= 4, "\(newest.keys)")
    }

    // MARK: Clients

    /// Its apps in the field, which ask the process; none is installed yet.
    func fleet() async throws -> Fleet {
        let base = "http://127.0.0.1:\(process.port)"
        let root = try await RawClient(port: process.port).get("/repo/\(app)/metadata/1.root.json")
        return try await Fleet(
            Fleet.Build(
                catalog: open.catalog, app: app, host: try catalogHost, clock: clock, base: base,
                // A connection that was kept is too old once the clock was turned.
                provider: { URLSessionDataProvider(allowsPlainHTTPToLoopback: true) }, anchor: self.root.root,
                customer: World.customer, kinds: [.list, .challenge, .trustServer, .repository],
                root: Data(root.body.utf8)))
    }

    /// Has every kind of client follow what the process serves, also those that share no code with it.
    func everybodyFollows(lettingIn shown: TestCertificate) async throws {
        try await open.publisher.refresh()
        let part = try #require(open.publisher.live.current.parts[app], "nothing is served")
        let list = try await open.catalog.key(.fingerprints, of: app)
        let trust = try await open.catalog.key(.trustServer, of: app)
        let clients = ClientFleet(
            app: app, publicKey: list.map { Base64.encode($0.publicKey.suffix(65)) }, signer: trust?.certificate,
            root: root, clock: clock, documents: part.documents.mapValues(\.bytes), hasChallenges: true,
            hostPort: host.port)
        try await clients.expect(on: process.port, lettingIn: [shown, spare], isThorough: false)
    }
}
