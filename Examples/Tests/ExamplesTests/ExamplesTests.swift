import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastMetrics
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import MetricsTestKit
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Testing

@testable import DeviceServer
@testable import PinFileOnBothEnds
@testable import PinKeeper
@testable import PinnedFetch
@testable import PinnedLine

/// Each example against servers on loopback: what it is for, and the nearest thing that it must refuse.
@Suite("The examples", .timeLimit(.minutes(5)))
struct ExamplesTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test("The AsyncHTTPClient program fetches from the pinned server and sends another one nothing")
    func pinnedFetch() async throws {
        let pins = try stage.pins()
        let options = LoopbackTLSServer.Options(behavior: .http(body: "pinned"))
        for (certificate, isTrusted) in [(stage.server, true), (try stage.impostor(), false)] {
            try await withLoopbackTLSServer(serving: certificate, options: options) { server in
                let url = "https://localhost:\(server.port)/"
                let manager = try PinnedFetch.manager(for: url, pin: pins.inUse, backup: pins.backup)
                if isTrusted {
                    let body = try await PinnedFetch.fetch(url, manager: manager, anchors: stage.anchors)
                    #expect(body == "pinned")
                } else {
                    let failure = await #expect(throws: TrustFailure.self) {
                        try await PinnedFetch.fetch(url, manager: manager, anchors: stage.anchors)
                    }
                    #expect(failure?.code == .pinMismatch)
                    #expect(server.statistics.plaintextBytesReceived == 0)
                }
            }
        }
    }

    @Test("The SwiftNIO client gets its line back from the pinned server and sends another one nothing")
    func pinnedLine() async throws {
        let (inUse, backup) = try stage.pins()
        let pins = try PinSet(pins: [Pin(inUse)], backups: [Pin(backup)])
        for (certificate, isTrusted) in [(stage.server, true), (try stage.impostor(), false)] {
            try await withLoopbackTLSServer(serving: certificate) { server in
                let host = try DialedHost("localhost", port: server.port)
                if isTrusted {
                    let answer = try await PinnedLine.send("hello", to: host, pins: pins, anchors: stage.anchors)
                    #expect(answer == "hello")
                } else {
                    let failure = await #expect(throws: TrustFailure.self) {
                        try await PinnedLine.send("hello", to: host, pins: pins, anchors: stage.anchors)
                    }
                    #expect(failure?.code == .pinMismatch)
                    #expect(server.statistics.plaintextBytesReceived == 0)
                }
            }
        }
    }

    /// What a device hears; nil where the connection ends before a word.
    private func greeting(from port: Int, for device: TestCertificate) async throws -> String? {
        let host = try DialedHost("localhost", port: port)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = try Stage.certificates(of: device).map { .certificate($0) }
        configuration.privateKey = .privateKey(try Stage.key(of: device))
        let client = try PinnedTLSClient(
            trust: .policy(StandardPolicy(host: HostPattern(host))), host: host, configuration: configuration,
            validator: PathValidator(anchors: stage.anchors))
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(to: client) {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: $0)
        }
        var words: String?
        // A server that hangs up first makes closing an error, whatever it said before.
        try? await connection.executeThenClose { inbound, _ in
            for try await part in inbound {
                words = String(buffer: part)
                return
            }
        }
        return words
    }

    @Test("The server with mutual TLS greets by subjectAltName, dismisses other devices, and never meets strangers")
    func deviceServer() async throws {
        let devices = try TestAuthority.root(name: "Devices")
        let (billing, other) = ("spiffe://example.org/billing", "spiffe://example.org/billing2")
        func device(_ authority: TestAuthority, _ uri: String) throws -> TestCertificate {
            try authority.leaf(names: [.uri(uri)]) { $0.extendedKeyUsage = [.clientAuthentication] }
        }
        let listener = try await DeviceServer.start(
            port: 0, certificates: Stage.certificates(of: stage.server), key: Stage.key(of: stage.server),
            devices: TrustAnchors(der: [devices.root]), allowed: [billing])
        let port = try #require(listener.localAddress?.port)
        #expect(try await greeting(from: port, for: device(devices, billing)) == "welcome, \(billing)\n")
        #expect(try await greeting(from: port, for: device(devices, other)) == "not allowed\n")
        let stranger = try device(TestAuthority.root(name: "Devices"), billing)
        #expect(try await greeting(from: port, for: stranger) == nil)
        try await listener.close()
    }

    @Test("The service keeps its store fresh, counts refusals by code, and ends when its group is shut down")
    func pinKeeper() async throws {
        let key = SigningKey()
        var list = PinListDraft()
        list.add(
            try FingerprintEntry(
                name: "localhost", pin: .certificate(stage.server.der), until: .now.addingTimeInterval(86_400)))
        let document = String(decoding: try list.signed(by: key), as: UTF8.self)
        let http = LoopbackTLSServer.Options(behavior: .http())
        let (lists, backend, impostor) = try await (
            LoopbackTLSServer.start(serving: stage.server, options: .init(behavior: .http(body: document))),
            LoopbackTLSServer.start(serving: stage.server, options: http),
            LoopbackTLSServer.start(serving: stage.impostor(), options: http)
        )
        let metrics = TestMetrics()
        let keeper = try await PinKeeper(
            list: #require(URL(string: "https://127.0.0.1:\(lists.port)/")), publicKey: key.publicKey.base64,
            backends: [backend, impostor].map { "https://localhost:\($0.port)/" }, anchors: stage.anchors,
            metrics: TrustMetrics(factory: metrics), logger: Stage.logger, storage: InMemoryDataStore())
        let (decisions, told) = AsyncStream.makeStream(of: TrustDecision.self)
        keeper.manager.addObserver { told.yield($0) }

        let group = keeper.group()
        async let run: Void = group.run()
        var (hasTrusted, hasRefused) = (false, false)
        for await decision in decisions {
            hasTrusted = hasTrusted || decision.isTrusted
            hasRefused = hasRefused || decision.failure?.code == .pinMismatch
            if hasTrusted, hasRefused { break }
        }
        await group.triggerGracefulShutdown()
        try await run
        try await keeper.client.shutdown()

        #expect(keeper.store.entryCount == 1 && keeper.store.lastUpdate?.error == nil)
        #expect(impostor.statistics.plaintextBytesReceived == 0)
        func count(_ label: String, _ dimensions: [(String, String)]) throws -> Int64 {
            try metrics.expectCounter(label, dimensions).totalValue
        }
        let refusals = try count(
            "holdfast_decisions_total", [("outcome", "rejected"), ("code", "pinMismatch")])
        let trusted = try count("holdfast_decisions_total", [("outcome", "trusted"), ("code", "none")])
        #expect(refusals >= 1 && trusted >= 1)
        let updates = try count(
            "holdfast_store_updates_total", [("store", "default"), ("outcome", "done"), ("code", "none")])
        #expect(updates == 1)
        for server in [lists, backend, impostor] { await server.shutdown() }
    }

    @Test("With one pin file on both ends the client is let in, and a server with an unpinned key does not start")
    func pinFile() async throws {
        let (inUse, backup) = try stage.pins()
        let json = """
            {"schema": 1, "hosts": [{"host": "localhost", "pins": [
                {"pin": "\(inUse)"}, {"pin": "\(backup)", "state": "backup"}
            ]}]}
            """
        let pinFile = try PinFile(json: Data(json.utf8))
        let anyPort = try DialedHost("localhost")
        let listener = try await PinCheckedServer.start(
            for: anyPort, at: 0, certificates: Stage.certificates(of: stage.server), key: Stage.key(of: stage.server),
            pinFile: pinFile, anchors: stage.anchors)
        let host = try DialedHost("localhost", port: #require(listener.localAddress?.port))
        let client = PinFileClient(manager: try TrustManager(pinFile: Data(json.utf8)), anchors: stage.anchors)
        #expect(try await client.ask(host) == "hello\n")
        try await listener.close()

        let renewed = try stage.impostor()
        let failure = await #expect(throws: TrustFailure.self) {
            _ = try await PinCheckedServer.start(
                for: anyPort, at: 0, certificates: Stage.certificates(of: renewed), key: Stage.key(of: renewed),
                pinFile: pinFile, anchors: stage.anchors)
        }
        #expect(failure?.code == .pinMismatch)
    }
}
