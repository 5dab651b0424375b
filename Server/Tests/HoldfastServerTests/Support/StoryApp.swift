import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastReports
import HoldfastReportsAsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PublicAPI
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// An app in the field that meets a machine in its way, and reports that to a server, all over sockets.
struct StoryApp {
    let world: World
    let shop: Shop
    /// The machine's.
    let middle: TestCertificate
    private let root: TestAuthority
    private let inbox = ReportInbox()

    init(_ world: World, of shop: Shop) async throws {
        (self.world, self.shop) = (world, shop)
        root = try TestAuthority.root(name: "Company Inspection")
        middle = try root.leaf(names: [.dns(World.host)])
        try await world.catalog.set(ReportSettings(isEnabled: true), of: shop.app, by: "operator")
    }

    /// Connects as the app does, is refused, and reports it. The server counts the report.
    func report() async throws {
        let service = ReportService(world.catalog, inbox, logger: AdministrationSite.quiet)
        var (state, now) = (service.begin(at: .now), ContinuousClock.now)
        await service.step(&state, now)
        let leaf = try root.leaf(names: [.dns("localhost")])
        let (chain, key) = (world.folder.appending(path: "chain.pem"), world.folder.appending(path: "key.pem"))
        try Data(leaf.chainPEM.utf8).write(to: chain)
        try Data(leaf.key.privateKeyPEM.utf8).write(to: key)
        let settings = try ListenerSettings(port: 0, identity: TLSIdentity(certificates: chain, key: key))
        try await ServingSite().listening(settings, reports: inbox) { port in
            let collector = try #require(URL(string: "https://localhost:\(port)/reports?appName=\(shop.app)"))
            let manager = TrustManager(try pinFile(collector))
            let reporter = try reporter(of: manager, collector)
            try await withLoopbackTLSServer(serving: middle) { server in
                let failure = await #expect(throws: TrustFailure.self) {
                    try await connect(manager, to: server.port)
                }
                #expect(failure?.code == .pinMismatch && server.statistics.plaintextBytesReceived == 0)
            }
            await reporter.send()
            #expect(reporter.lastError.map { "\($0)" } == nil)
            try await eventually("the report is taken") { inbox.intake.count >= 1 }
        }
        service.readWaiting()
        now += .seconds(15)
        await service.step(&state, now)
    }

    /// The app's pins: the key that the host presents, and the announced one.
    private func pinFile(_ collector: URL) throws -> PinFile {
        let pins = try [(world.shown, "active"), (world.announced, "backup")].map { certificate, state in
            let pin = try Pin.publicKey(of: certificate.der)
            return #"{"pin": "\#(pin)", "role": "leaf", "state": "\#(state)"}"#
        }
        let text = """
            {"schema": 1, "app": "com.example.shop", "issuedAt": "2026-11-21T12:00:00Z", "hosts": [{"host": \
            "\(World.host)", "pins": [\(pins.joined(separator: ", "))], "report": {"url": \
            "\(collector.absoluteString)", "failureFraction": 1, "successFraction": 1}}]}
            """
        return try PinFile(json: Data(text.utf8))
    }

    private func reporter(of manager: TrustManager, _ collector: URL) throws -> TrustReporter {
        var configuration = ReportConfiguration(
            destinations: [collector], application: "com.example.shop", version: "5.1")
        configuration.includesChains = true
        configuration.sender = AsyncHTTPClientReportSender(
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        configuration.store = InMemoryDataStore()
        configuration.clock = world.clock
        let reporter = try TrustReporter(configuration)
        try reporter.observe(manager)
        return reporter
    }

    private func connect(_ manager: TrustManager, to port: Int) async throws {
        let client = try PinnedTLSClient(
            trust: .manager(manager), host: DialedHost(World.host, port: Int(shop.host.port)),
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: client, at: SocketAddress(ipAddress: "127.0.0.1", port: port)) { $0.close(promise: nil) }
    }
}
