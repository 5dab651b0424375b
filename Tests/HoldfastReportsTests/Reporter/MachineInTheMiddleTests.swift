import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastReports
import HoldfastReportsAsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// Everything for real: a client's TLS, a machine in the middle, the reporter, its sender's TLS, a collector.
@Suite("A machine in the middle is reported", .timeLimit(.minutes(15)))
struct MachineInTheMiddleTests {
    private let scene: ReportScene
    /// An authority that the device trusts, as in a company that inspects TLS.
    private let company: TestAuthority
    private let anchors: TrustAnchors
    private let collector: TestCertificate

    init() throws {
        scene = try ReportScene(at: SystemWallClock().now.formatted(.iso8601))
        company = try TestAuthority.root(name: "Company Inspection", clock: scene.clock)
        anchors = try TrustAnchors(der: [scene.root.root, company.root])
        collector = try scene.root.leaf(names: ["localhost"])
    }

    private func configuration(_ port: Int) throws -> ReportConfiguration {
        let text = "https://localhost:\(port)/reports?appName=bank"
        var configuration = ReportConfiguration(
            destinations: [try #require(URL(string: text))], application: "com.example.bank", version: "5.1")
        configuration.sender = AsyncHTTPClientReportSender(
            validator: PathValidator(anchors: anchors), clock: scene.clock)
        configuration.store = scene.store
        configuration.clock = scene.clock
        return configuration
    }

    /// Connects as an application does.
    private func connect(_ manager: TrustManager, to port: Int) async throws {
        let client = try PinnedTLSClient(
            trust: .manager(manager), host: DialedHost("api.example.com", port: 443),
            validator: PathValidator(anchors: anchors), clock: scene.clock)
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: client, at: SocketAddress(ipAddress: "127.0.0.1", port: port)) { $0.close(promise: nil) }
    }

    private func pinFile(_ port: Int, _ enforcement: PinSet.Enforcement = .enforce) throws -> PinFile {
        let url = "https://localhost:\(port)/reports?appName=bank"
        return try scene.pinFile(enforcement: enforcement, report: ReportScene.report(to: url))
    }

    @Test("A client that refuses a company's inspection tells the collector, with the chain where it is asked for")
    func refused() async throws {
        let middle = try company.leaf(names: ["api.example.com"])
        try await LoopbackCollector.with(serving: collector) { collector in
            try await withLoopbackTLSServer(serving: middle) { server in
                let manager = scene.manager(try pinFile(collector.port))
                var configuration = try configuration(collector.port)
                configuration.includesChains = true
                let reporter = try scene.reporter(configuration)
                try reporter.observe(manager)
                let failure = await #expect(throws: TrustFailure.self) {
                    try await connect(manager, to: server.port)
                }
                #expect(failure?.code == .pinMismatch && server.statistics.plaintextBytesReceived == 0)
                await reporter.send()
                #expect(reporter.lastError == nil && reporter.pendingReports == 0)
            }
            var requests = collector.requests.makeAsyncIterator()
            let request = try #require(await requests.next())
            #expect(request.head.method == .POST && request.head.uri == "/reports?appName=bank")
            #expect(request.head.headers["Content-Type"] == ["application/json"])
            let body = try JSONValue.object(request.body)
            #expect(body["failure"] == .text("pinMismatch") && body["outcome"] == .text("rejected"))
            let served = try #require(body["served-certificate-chain"]?.array?.first?.text)
            #expect(try PEMBlocks.read(Data(served.utf8)).map { try $0.content.get() } == [middle.der])
            #expect(body["port"] == .number(443))
        }
    }

    @Test("In report mode the client goes on, and the collector learns of it")
    func reportMode() async throws {
        let middle = try company.leaf(names: ["api.example.com"])
        try await LoopbackCollector.with(serving: collector) { collector in
            try await withLoopbackTLSServer(serving: middle) { server in
                let manager = scene.manager(try pinFile(collector.port, .reportOnly))
                let reporter = try scene.reporter(try configuration(collector.port))
                try reporter.observe(manager)
                try await connect(manager, to: server.port)
                await reporter.send()
            }
            var requests = collector.requests.makeAsyncIterator()
            let body = try JSONValue.object(try #require(await requests.next()).body)
            #expect(body["failure"] == .text("pinMismatch") && body["outcome"] == .text("accepted"))
            #expect(body["served-certificate-chain"] == .array([]))
        }
    }

    @Test("A machine that stands before the collector as well gets no report, which is kept")
    func before() async throws {
        let middle = try company.leaf(names: ["api.example.com"])
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock)
        try await LoopbackCollector.with(serving: try stranger.leaf(names: ["localhost"])) { collector in
            try await withLoopbackTLSServer(serving: middle) { server in
                let manager = scene.manager(try pinFile(collector.port))
                let reporter = try scene.reporter(try configuration(collector.port))
                try reporter.observe(manager)
                await #expect(throws: TrustFailure.self) { try await connect(manager, to: server.port) }
                await reporter.send()
                #expect(reporter.lastError?.code == .notSent && reporter.pendingReports == 1)
            }
        }
    }

    @Test("A success that is counted, and a summary of the day, arrive as well")
    func summary() async throws {
        try await LoopbackCollector.with(serving: collector) { collector in
            try await withLoopbackTLSServer(serving: scene.leaf) { server in
                let manager = scene.manager(try pinFile(collector.port))
                let reporter = try scene.reporter(try configuration(collector.port))
                try reporter.observe(manager)
                for _ in 0..<3 { try await connect(manager, to: server.port) }
                #expect(reporter.pendingReports == 0)
                scene.clock.advance(by: .seconds(86_400))
                await reporter.send()
            }
            var requests = collector.requests.makeAsyncIterator()
            let body = try JSONValue.object(try #require(await requests.next()).body)
            let policy = try #require(body["policies"]?.array?.first?.members)
            #expect(policy["summary"]?.members?["total-successful-session-count"] == .number(3))
        }
    }
}
