import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// A download that is held until the test lets it go, then answers as the test says.
private final class HeldProvider: RemoteDataProvider {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var answer: Result<Data, RemoteDataError> = .failure(RemoteDataError(status: 503))
        var requests = 0
    }

    private let state = Lock(State())

    var requests: Int { state.withLock { $0.requests } }

    func open(_ answer: Result<Data, RemoteDataError>) {
        let waiting = state.withLock { state in
            state.isOpen = true
            state.answer = answer
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.requests += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return RemoteDataResponse(.body(try state.withLock { $0.answer }.get()))
    }
}

@Suite("A client with pins from a trust server", .timeLimit(.minutes(15)))
struct OnlinePinningTests {
    private typealias Host = TestTrustServer.Host

    private let host = "www.example.com"
    private let setting: ClientSetting
    private let server: TestTrustServer
    private let leaf: TestCertificate

    init() throws {
        setting = try ClientSetting()
        server = try TestTrustServer()
        leaf = try setting.issuing.leaf(names: ["www.example.com"])
    }

    private func document(_ certificate: TestCertificate) throws -> Data {
        try server.document(at: SystemWallClock().now, [Host(host, port: nil, [certificate])])
    }

    private func policy(
        _ provider: any RemoteDataProvider, url: String = "https://pins.example.com/gcx",
        clock: any WallClock = SystemWallClock(), timeout: Duration = .seconds(300)
    ) throws -> PinnedPolicy {
        var configuration = TrustServerConfiguration(
            url: try #require(URL(string: url)), signer: try TrustServerSigner(certificate: server.certificate),
            customer: "gcx")
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = InMemoryDataStore()
        configuration.preparationTimeout = timeout
        let store = try TrustServerStore(checking: configuration, clock: clock, logger: RecordingLog().logger)
        return try store.policy(for: host)
    }

    @Test("Eight connections at once wait for the first document, which a real server sends once")
    func firstDocument() async throws {
        let document = Array(try document(leaf))
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(document.count)\r\nConnection: close\r\n\r\n"
        try await ScriptedHTTPServer.with({ _ in [.send(head), .sendOctets(document), .close] }) { pins in
            let policy = try policy(URLSessionDataProvider(allowsPlainHTTPToLoopback: true), url: pins.url("/gcx"))
            let client = try setting.client(for: host, trust: .manager(TrustManager(policies: [policy])))
            try await withLoopbackTLSServer(serving: leaf) { server in
                try await withThrowingTaskGroup(of: ClientAttempt.self) { group in
                    for _ in 0..<8 { group.addTask { try await ClientAttempt.make(client, at: server) } }
                    for try await attempt in group { expectTrust(attempt) }
                }
            }
            #expect(pins.requests.count == 1)
        }
    }

    @Test("A connection waits for the first list of a store as well, and the next one for nothing")
    func firstList() async throws {
        let key = SigningKey()
        let entry = try FingerprintEntry(
            name: host, pin: .certificate(leaf.der), until: SystemWallClock().now.addingTimeInterval(86_400))
        let provider = HeldProvider()
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "https://pins.example.com/list")),
                publicKey: try key.publicKey.base64),
            secureDataStore: InMemoryDataStore(), remoteDataProvider: provider, logger: RecordingLog().logger)
        let client = try setting.client(for: host, trust: .policy(try store.policy(for: host)))
        try await withLoopbackTLSServer(serving: leaf) { server in
            async let first = ClientAttempt.make(client, at: server)
            try await waitUntil { provider.requests > 0 }
            provider.open(.success(try PinListDraft([entry]).signed(by: key)))
            expectTrust(try await first)
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
        #expect(provider.requests == 1)
    }

    @Test("While a connection waits for its document, its event loop serves others")
    func eventLoopIsFree() async throws {
        let provider = HeldProvider()
        let waiting = try setting.client(for: host, trust: .policy(try policy(provider)))
        let other = try setting.client(for: host)
        try await withLoopbackTLSServer(serving: leaf) { server in
            async let first = ClientAttempt.make(waiting, at: server)
            try await waitUntil { provider.requests > 0 }
            // More than there are event loops.
            for _ in 0..<(2 * System.coreCount + 1) { expectTrust(try await ClientAttempt.make(other, at: server)) }
            provider.open(.success(try document(leaf)))
            expectTrust(try await first)
        }
        #expect(provider.requests == 1)
    }

    @Test("A document that does not come in time, or cannot be had, is a rejection with its reason")
    func noDocument() async throws {
        let held = HeldProvider()
        let late = try setting.client(for: host, trust: .policy(try policy(held, timeout: .milliseconds(1))))
        let failing = HeldProvider()
        failing.open(.failure(RemoteDataError(status: 503)))
        let failed = try setting.client(for: host, trust: .policy(try policy(failing)))
        try await withLoopbackTLSServer(serving: leaf) { server in
            try await expectRefusal(try await ClientAttempt.make(late, at: server), .noUsablePins, at: server)
            let attempt = try await ClientAttempt.make(failed, at: server)
            try await expectRefusal(attempt, .noUsablePins, at: server)
            #expect(attempt.failure?.found.contains("503") == true)
        }
        held.open(.failure(RemoteDataError(status: 503)))
    }

    @Test("A key that changed is refused once; the next connection waits for the new document and is trusted")
    func rotation() async throws {
        let renewed = try setting.issuing.impersonate(leaf)
        let provider = HeldProvider()
        provider.open(.success(try document(leaf)))
        let policy = try policy(provider)
        let client = try setting.client(for: host, trust: .policy(policy))
        try await withLoopbackTLSServer(serving: leaf) { server in
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
        provider.open(.success(try document(renewed)))
        try await withLoopbackTLSServer(serving: renewed) { server in
            expectRefusal(try await ClientAttempt.make(client, at: server), .pinMismatch)
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
        #expect(provider.requests == 2)
    }

    @Test("A connection that ends while it waits harms nobody")
    func endsMeanwhile() async throws {
        let provider = HeldProvider()
        let client = try setting.client(for: host, trust: .policy(try policy(provider)))
        try await withLoopbackTLSServer(serving: leaf) { server in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { client.configure($0) }
                .connect(host: server.address, port: server.port).get()
            try await waitUntil { provider.requests > 0 }
            try await channel.close()
            provider.open(.success(try document(leaf)))
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
        #expect(provider.requests == 1)
    }

    @Test("The callbacks for other frameworks wait as well")
    func callbacks() async throws {
        let provider = HeldProvider()
        let verification = PeerVerification(
            trust: .policy(try policy(provider)), host: try DialedHost(host), validator: try setting.validator())
        let chain = try leaf.chain.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let plain = loop.makePromise(of: NIOSSLVerificationResult.self)
        let withMetadata = loop.makePromise(of: NIOSSLVerificationResultWithMetadata.self)
        verification.callback(chain, plain)
        verification.callbackWithMetadata(chain, withMetadata)
        async let asynchronous = verification.asyncCallback(chain)
        try await waitUntil { provider.requests > 0 }
        provider.open(.success(try document(leaf)))
        #expect(try await plain.futureResult.inTime() == .certificateVerified)
        if case .failed = try await withMetadata.futureResult.inTime() { Issue.record("refused") }
        #expect(try await asynchronous == .certificateVerified)
        #expect(provider.requests == 1)
    }
}
