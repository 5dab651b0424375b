import Foundation
import HoldfastCompatibility
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

/// The published sample of online pinning, against a trust server and a TLS server on loopback.
@Suite("Published usage, online pinning", .quietLog, .timeLimit(.minutes(15)))
struct OnlinePinningUsageTests {
    private let server: PublishedServer
    private let trustServer: TestTrustServer

    init() throws {
        server = try PublishedServer()
        trustServer = try TestTrustServer(customer: "gcx")
    }

    private var document: Data {
        get throws {
            try trustServer.document(
                customer: "gcx", at: SystemWallClock().now, [.init(server.host, port: nil, [server.leaf])])
        }
    }

    private var settings: OnlinePinningSettings {
        var settings = OnlinePinningSettings()
        settings.remoteDataProvider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)
        settings.secureDataStore = InMemoryDataStore()
        settings.preparationTimeout = .seconds(300)
        return settings
    }

    /// A trust server as the published one is: a web server with a file.
    private func publishing(_ document: Data, _ body: (ScriptedHTTPServer) async throws -> Void) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(document.count)\r\nConnection: close\r\n\r\n"
        try await ScriptedHTTPServer.with({ _ in [.send(head), .sendOctets(Array(document)), .close] }, body)
    }

    /// One connection to a server: whether it was trusted.
    private func connect(to certificate: TestCertificate, by manager: TrustManager) async throws -> TrustDecision {
        try await withLoopbackTLSServer(serving: certificate) { loopback in
            let client = try PinnedTLSClient(
                trust: .manager(manager), host: DialedHost(server.host),
                validator: PathValidator(anchors: TrustAnchors(der: [server.root.root])))
            let (channel, decision) = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: try SocketAddress(ipAddress: loopback.address, port: loopback.port)) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        (channel, try client.addHandlers(to: channel.pipeline.syncOperations))
                    }
                }
            let made = try await decision.get()
            try? await channel.close().get()
            return made
        }
    }

    @Test("The older generation: the sample waits for the trust server's document and pins by it")
    func older() async throws {
        let certificate = trustServer.certificate.base64EncodedString()
        let defaultPolicy = ComposePolicy(withValidation: .standard, forHost: "default.\(server.host)").create()
        let pinningPolicy = ComposePolicy(withValidation: .disabled, forHost: "pinning.\(server.host)").create()
        defer {
            for name in [server.host, "default.\(server.host)", "pinning.\(server.host)"] {
                TrustManager.shared.removePolicy(name: name)
            }
        }
        try await publishing(try document) { published in
            // Published:
            let pkOnline = ComposePolicy(withValidation: .pinPublicKeyOnline, forHost: server.host)
            pkOnline.trustServer = URL(string: published.url("/gcx.json.signed"))
            pkOnline.trustServerCertificate = Data(base64Encoded: certificate)
            pkOnline.customer = "gcx"
            // Not published: where the document is kept, and plain HTTP on loopback.
            pkOnline.onlinePinning = settings
            TrustManager.sharedInstance.add(policies: [defaultPolicy, pinningPolicy, pkOnline.create()])
            // End.
            let decision = try await connect(to: server.leaf, by: .sharedInstance)
            #expect(decision.isTrusted && decision.matchedPins.map(\.subject) == [.publicKey])
            let renewed = try await connect(to: server.root.renew(server.leaf), by: .sharedInstance)
            #expect(renewed.isTrusted)
            let impostor = try await connect(to: server.root.impersonate(server.leaf), by: .sharedInstance)
            #expect(impostor.failure?.code == .pinMismatch)
            // The mismatch asked for the document once more, in the background.
            #expect((1...2).contains(published.requests.count))
        }
    }

    @Test("The older generation: the Boolean call rejects until the document is there")
    func boolean() async throws {
        try await publishing(try document) { published in
            let composer = ComposePolicy(withValidation: .pinCertificateOnline, forHost: server.host)
            composer.trustServer = URL(string: published.url("/gcx.json.signed"))
            composer.trustServerCertificate = trustServer.certificate
            composer.customer = "gcx"
            composer.onlinePinning = settings
            let policy = composer.create()
            let trust = server.trust(server.leaf.chain, host: server.host)
            #expect(!policy.validate(with: trust))
            try await policy.prepare()
            #expect(policy.validate(with: trust))
            #expect(published.requests.count == 1)
        }
    }

    @Test("The newer generation reaches the same through its settings")
    func newer() async throws {
        try await publishing(try document) { published in
            let manager = TrustManager()
            let settings = ValidationSettings.defaultSettings
            settings.trustServer = URL(string: published.url("/gcx.json.signed"))
            settings.trustServerCertificate = trustServer.certificate
            settings.customer = "gcx"
            settings.onlinePinning = self.settings
            manager.add(
                policy: manager.create(type: .pinCertificateOnline, hostName: server.host, settings: settings))
            let decision = try await connect(to: server.leaf, by: manager)
            #expect(decision.isTrusted && decision.matchedPins.map(\.subject) == [.certificate])
            let renewed = try await connect(to: server.root.renew(server.leaf), by: manager)
            #expect(renewed.failure?.code == .pinMismatch)
        }
    }

    @Test("A trust server of another customer, and one that is not there, are rejections with a reason")
    func wrongServer() async throws {
        let foreign = try trustServer.document(
            customer: "other", at: SystemWallClock().now, [.init(server.host, port: nil, [server.leaf])])
        try await publishing(foreign) { published in
            for (url, reason) in [
                (URL(string: published.url("/gcx.json.signed")), "other"),
                (URL(string: "https://127.0.0.1:1/"), "networkError"),
            ] {
                let composer = ComposePolicy(withValidation: .pinPublicKeyOnline, forHost: server.host)
                composer.trustServer = url
                composer.trustServerCertificate = trustServer.certificate
                composer.customer = "gcx"
                composer.onlinePinning = settings
                let decision = try await connect(
                    to: server.leaf, by: TrustManager(policies: [try composer.makePolicy()]))
                #expect(decision.failure?.code == .noUsablePins)
                #expect(decision.failure?.found.contains(reason) == true)
            }
        }
    }
}
