import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastServer
import HoldfastSigning
import HoldfastTesting
import Logging

/// What the demo plays on: an authority, a TLS server that is a host, three approvers, and a pin server that runs.
struct DemoStage: Sendable {
    static let host = "api.example.com"
    static let customer = "demo"

    let folder: ServerFolder
    let open: ServerFolder.Open
    let authority: TestAuthority
    let tls: LoopbackTLSServer
    let shown: TestCertificate
    let next: TestCertificate
    /// What nobody announced.
    let strangers: TestCertificate
    let approvers: [ApproverPrivateKey]
    let app: AppName
    let catalogHost: CatalogHost
    let holders: DemoHolders
    let clock: any WallClock
    private let watcher: Watcher

    private static let names = ["alice", "bob", "carol"]

    /// Sets everything up, runs the server and a closure beside it, and takes everything down.
    /// - Parameter body: gets the stage, and the address of the listener for apps.
    static func run<Value: Sendable>(
        in folder: URL, clock: any WallClock, _ body: (DemoStage, String) async throws -> Value
    ) async throws -> Value {
        let authority = try TestAuthority.root(name: "Demo Root")
        let shown = try authority.leaf(names: [.dns(host)])
        let tls = try await LoopbackTLSServer.start(serving: shown, options: .init(behavior: .http()))
        let server = ServerFolder(folder.appending(path: "data"))
        let approvers = try names.map { _ in try newApprover() }
        try await create(server, approvers, secret: folder.appending(path: "secret"), clock)
        let open = try await server.open(clock: clock)
        var settings = Watcher.Settings()
        settings.allowed = [try AddressBlock("127.0.0.0/8")]
        settings.clock = clock
        let stage = DemoStage(
            folder: server, open: open, authority: authority, tls: tls, shown: shown,
            next: try authority.leaf(names: [.dns(host)]) { $0.notAfter = .days(180) },
            strangers: try authority.leaf(names: [.dns(host)]), approvers: approvers,
            app: try AppName("bank"),
            catalogHost: try CatalogHost(name: host, port: Int64(tls.port), dial: tls.address),
            holders: DemoHolders(in: folder), clock: clock,
            watcher: Watcher(open.catalog, settings, logger: silent))
        let value = try await stage.serving(body)
        await open.engine.close()
        await tls.shutdown()
        return value
    }

    static func newApprover() throws -> ApproverPrivateKey {
        try ApproverPrivateKey(pem: TUFSigningKey(.ed25519).pem ?? "")
    }

    static var silent: Logger { Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() } }

    private static func create(
        _ server: ServerFolder, _ approvers: [ApproverPrivateKey], secret: URL, _ clock: any WallClock
    ) async throws {
        var generator = SystemRandomNumberGenerator()
        let members = try zip(names, approvers).map { try ApproverSet.Member(name: $0, key: $1.key) }
        let genesis = try ApproverStatement(
            genesisOf: RandomID(using: &generator), approvers: ApproverSet(members, number: 2), recovery: nil)
        _ = try await server.create(
            genesis: SignedApprovers(
                text: genesis.octets, signatures: try approvers.map { try $0.signature(of: genesis.octets) }),
            secret: SecretFile(secret), clock: clock, using: &generator)
    }

    private func serving<Value: Sendable>(_ body: (DemoStage, String) async throws -> Value) async throws -> Value {
        let (addresses, found) = AsyncStream.makeStream(of: String.self)
        let settings = try await ServeSettings(
            flags: [.listen: "127.0.0.1:0", .adminListen: "127.0.0.1:0", .watch: "false"], environment: [:], file: nil)
        let process = try ServerProcess(
            open, settings, clock: clock, connections: 64, logger: Self.silent
        ) { audience, address in
            if audience == .apps { found.yield(address) }
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { found.finish() }
                try await process.run()
            }
            defer { group.cancelAll() }
            for await address in addresses { return try await body(self, address) }
            // It ended before it listened, and says why.
            try await group.waitForAll()
            throw NegativeAnswer(words: "the server did not listen")
        }
    }

    /// A file with the authority, for programs.
    var roots: URL {
        get throws {
            let file = folder.url.appending(path: "../roots.pem").standardizedFileURL
            try Data(TestCertificate.pem(authority.root).utf8).write(to: file)
            return file
        }
    }

    /// Whether openssl verifies a trust server's document that is served; nil if it is not installed.
    func openSSLVerifies(_ address: String, signer: [UInt8]) async throws -> Bool? {
        guard let program = DemoProgram("openssl"),
            let url = URL(string: "http://\(address)/trust/\(Self.customer).json.signed")
        else { return nil }
        let provider = DocumentDownloader(
            trusting: TrustAnchors([]), within: .seconds(60), allowsPlainHTTPToLoopback: true)
        guard case .body(let body) = try await provider.data(for: RemoteDataRequest(url: url)).content else {
            return false
        }
        let (document, certificate) = (
            folder.url.appending(path: "../document"), folder.url.appending(path: "../signer.pem")
        )
        try body.write(to: document.standardizedFileURL)
        try Data(TestCertificate.pem(signer).utf8).write(to: certificate.standardizedFileURL)
        return try await program.succeeds(with: [
            "cms", "-verify", "-inform", "der", "-in", document.standardizedFileURL.path, "-CAfile",
            certificate.standardizedFileURL.path,
        ])
    }

    /// Looks at the host as the watcher does.
    func look() async throws -> [Watcher.Report] {
        var generator = SystemRandomNumberGenerator()
        return try await watcher.look(at: app, using: &generator)
    }

    func propose(_ wishes: Catalog.ContentWishes, _ reason: String) async throws -> Publisher.Proposal {
        var generator = SystemRandomNumberGenerator()
        return try await open.publisher.propose(
            try await open.catalog.draft(of: app, wishes), proposer: nil, reason: reason, by: "operator",
            using: &generator)
    }

    /// What an approver says about a change.
    func approval(by key: ApproverPrivateKey, of change: RandomID) async throws -> SignedApproval {
        let subject = try await open.catalog.change(change).subject(for: open.catalog.approvers())
        let text = try ApprovalText(.approve, subject, end: Int64(clock.now.timeIntervalSince1970) + 3_600)
        return SignedApproval(text: text.octets, signature: try key.signature(of: text.octets))
    }
}
