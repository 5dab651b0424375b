import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import NIOCore
import Testing

/// Answers with what the test gave, or not at all, and counts.
private final class PinProvider: RemoteDataProvider {
    private let state = Lock<(document: Data?, requests: Int)>((nil, 0))

    init(_ document: Data?) { publish(document) }

    func publish(_ document: Data?) { state.withLock { $0.document = document } }

    var requests: Int { state.withLock { $0.requests } }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let document = state.withLock { state in
            state.requests += 1
            return state.document
        }
        if let document { return RemoteDataResponse(.body(document)) }
        try await Task.sleep(for: .seconds(3_600))
        throw RemoteDataError(.canceled, expected: "a test that goes on", found: "an end")
    }
}

@Suite("PinnedHTTPClient with pins from a trust server", .timeLimit(.minutes(15)))
struct OnlinePinningTests {
    private let setting: HTTPSetting
    private let server: TestTrustServer

    init() throws {
        setting = try HTTPSetting()
        server = try TestTrustServer()
    }

    @discardableResult
    private func add(_ provider: PinProvider, timeout: Duration = .seconds(300)) throws -> TrustServerStore {
        var configuration = TrustServerConfiguration(
            url: try #require(URL(string: "https://pins.example.com/gcx")),
            signer: try TrustServerSigner(certificate: server.certificate), customer: "gcx")
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = InMemoryDataStore()
        configuration.preparationTimeout = timeout
        let store = try TrustServerStore(checking: configuration, logger: RecordingLog().logger)
        setting.manager.add(policy: try store.policy(for: "www.example.com"))
        return store
    }

    private func document(_ certificate: TestCertificate, port: Int) throws -> Data {
        try server.document(
            at: SystemWallClock().now, [.init("www.example.com", port: port, [certificate])])
    }

    @Test("waits for the first document, once for all requests, and goes by the port that it dials")
    func waits() async throws {
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            let provider = PinProvider(try document(leaf, port: origin.port))
            try add(provider)
            try await setting.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { try await client.expectAnswer(origin.url()) } }
                    try await group.waitForAll()
                }
            }
            #expect(provider.requests == 1)
        }
    }

    @Test("waits for the first list of a store as well, once for all requests")
    func waitsForList() async throws {
        let leaf = try setting.leaf()
        let key = SigningKey()
        let entry = try FingerprintEntry(
            name: "www.example.com", pin: .certificate(leaf.der),
            until: SystemWallClock().now.addingTimeInterval(86_400))
        let provider = PinProvider(try PinListDraft([entry]).signed(by: key))
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "https://pins.example.com/list")),
                publicKey: try key.publicKey.base64),
            secureDataStore: InMemoryDataStore(), remoteDataProvider: provider, logger: RecordingLog().logger)
        setting.manager.add(policy: try store.policy(for: "www.example.com"))
        try await withOrigin(leaf) { origin in
            try await setting.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { try await client.expectAnswer(origin.url()) } }
                    try await group.waitForAll()
                }
            }
        }
        #expect(provider.requests == 1)
    }

    @Test(
        "uses a pooled connection no longer when a new document has other pins, and goes on with one that has the same")
    func replacedDocument() async throws {
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            let provider = PinProvider(try document(leaf, port: origin.port))
            let store = try add(provider)
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try await store.update(mode: .forced)
                let handshakes = origin.counters.handshakes
                try await client.expectAnswer(origin.url())
                #expect(origin.counters.handshakes == handshakes)
                provider.publish(try document(try setting.leaf(), port: origin.port))
                try await store.update(mode: .forced)
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                #expect(origin.counters.requests.count == 2)
            }
        }
    }

    @Test("refuses a server whose pins are for another port, before a request is sent")
    func otherPort() async throws {
        let leaf = try setting.leaf()
        try await withOrigin(leaf) { origin in
            try add(PinProvider(try document(leaf, port: origin.port == 443 ? 444 : 443)))
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .noUsablePins)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("refuses, with the reason, when no document comes in time")
    func noDocument() async throws {
        try await withOrigin(try setting.leaf()) { origin in
            try add(PinProvider(nil), timeout: .milliseconds(1))
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .noUsablePins)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("waits no longer than the request's own deadline")
    func deadline() async throws {
        try await withOrigin(try setting.leaf()) { origin in
            try add(PinProvider(nil))
            try await setting.withClient { client in
                await #expect(throws: (any Error).self) {
                    try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .milliseconds(50))
                }
                #expect(origin.counters.requests.isEmpty)
            }
        }
    }
}
