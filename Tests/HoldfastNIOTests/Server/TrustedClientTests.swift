import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("A client of a server that pins its clients", .timeLimit(.minutes(15)))
struct TrustedClientTests {
    static let versions: [TLSVersion] = [.tlsv12, .tlsv13]

    private let setting: MutualSetting

    init() throws {
        setting = try MutualSetting()
    }

    @Test(
        "with a pinned key is known to the application by its leaf, path and pin",
        arguments: versions, [TestKey.Choice.p256, .p384, .ed25519, .sharedRSA(bits: 2048, index: 0)])
    func trusted(version: TLSVersion, key: TestKey.Choice) async throws {
        let device = try setting.device(key: key)
        let pin = try device.publicKeyPin()
        try await MutualServer.with(try setting.server(setting.pinned(device), version)) { server in
            let attempt = try await ClientAttempt.make(
                try setting.client(presenting: device), address: server.address, port: server.port)
            expectTrust(attempt, answer: "got ping\n")
            let report = try await server.report()
            let chain = [device.der, setting.issuing.certificate.der, setting.root.root]
            let client = try #require(report.client)
            #expect(client.leaf.der.elementsEqual(device.der))
            #expect(client.path?.certificates.map { Array($0.der) } == chain)
            #expect(client.matchedPins == [pin])
            #expect(client.policyName == "devices")
            #expect(!client.isResumed)
            #expect(try report.askedClient?.get() == client)
            #expect(report.validatedChain == chain)
            #expect(report.received == ClientAttempt.greeting)
            #expect(report.errors.isEmpty, "\(report.errors)")
            #expect(try report.decision?.get().isTrusted == true)
        }
    }

    @Test("is trusted for its issuer's pin, and for its own certificate's", arguments: versions)
    func otherPins(version: TLSVersion) async throws {
        let device = try setting.device()
        let issuer = try X509Certificate(der: setting.issuing.certificate.der).publicKeyPin
        let own = try X509Certificate(der: device.der).certificatePin
        for pin in [issuer, own] {
            let policy = try PinnedPolicy(clients: "devices", pins: PinSet(pins: [pin]))
            try await MutualServer.with(try setting.server(policy, version)) { server in
                expectTrust(
                    try await ClientAttempt.make(
                        try setting.client(presenting: device), address: server.address, port: server.port),
                    answer: "got ping\n")
                #expect(try await server.report().client?.matchedPins == [pin])
            }
        }
    }

    @Test("under pins alone has no path and is known by its leaf")
    func pinsAlone() async throws {
        let device = try TestAuthority.selfSigned(names: ["device.example"]) {
            $0.extendedKeyUsage = [.clientAuthentication]
        }
        let policy = try PinnedPolicy(
            clients: "devices", pins: PinSet(pins: [device.publicKeyPin()]), certificatePinOnly: true)
        try await MutualServer.with(try setting.server(policy)) { server in
            expectTrust(
                try await ClientAttempt.make(
                    try setting.client(presenting: device), address: server.address, port: server.port),
                answer: "got ping\n")
            let client = try #require(try await server.report().client)
            #expect(client.leaf.der.elementsEqual(device.der))
        }
    }

    @Test("is judged also when the server chooses its own certificate by the name that is asked for")
    func chosenCertificate() async throws {
        let device = try setting.device()
        let stranger = try setting.device()
        var configuration = try setting.configuration()
        let (chain, key) = (configuration.certificateChain, configuration.privateKey)
        configuration.certificateChain = []
        configuration.privateKey = nil
        configuration.sslContextCallback = { _, promise in
            var change = NIOSSLContextConfigurationOverride()
            change.certificateChain = chain
            change.privateKey = key
            promise.succeed(change)
        }
        let server = try PinnedTLSServer(
            clients: setting.pinned(device), configuration: configuration, validator: setting.validator())
        try await MutualServer.with(server) { server in
            expectTrust(
                try await ClientAttempt.make(
                    try setting.client(presenting: device), address: server.address, port: server.port),
                answer: "got ping\n")
            #expect(try await server.report().client != nil)
            await #expect(throws: (any Error).self) {
                try await ClientAttempt.make(
                    try setting.client(presenting: stranger), address: server.address, port: server.port)
            }
            #expect(try await server.report().failure?.code == .pinMismatch)
        }
    }

    @Test("is cut off when the application cannot be set up for it")
    func setUpFails() async throws {
        struct Unprepared: Error {}
        let device = try setting.device()
        let server = try setting.server(setting.pinned(device), .tlsv12)
        try await MutualServer.with(server, whenTrusted: { throw Unprepared() }) { server in
            await #expect(throws: (any Error).self) {
                try await ClientAttempt.make(
                    try setting.client(presenting: device), address: server.address, port: server.port)
            }
            let report = try await server.report()
            #expect(report.errors.contains { $0 is Unprepared })
        }
    }

    @Test("has an identity; a server has none to ask for")
    func noClient() async throws {
        let leaf = try setting.servers.issuing.leaf(names: ["localhost"])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
                to: try setting.client(presenting: nil),
                at: try SocketAddress(ipAddress: server.address, port: server.port)
            ) { $0 }
            let error = await #expect(throws: TLSAdapterError.self) { try await channel.clientIdentity().inTime() }
            #expect(error?.code == .noClient)
            try await channel.close().inTime()
        }
    }
}
