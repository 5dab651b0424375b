import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import Testing

/// Lists from real servers, over plain HTTP as authorities publish them, enforced on real TLS connections.
@Suite("A store of revocation lists, over HTTP", .timeLimit(.minutes(15)))
struct RevocationOverHTTPTests {
    private let setting: ClientSetting
    private let leaf: TestCertificate
    private let storage = InMemoryDataStore()
    private let log = RecordingLog()

    init() throws {
        setting = try ClientSetting()
        leaf = try setting.issuing.leaf(names: ["www.example.com"])
    }

    private func list(_ revoked: TestCertificate...) throws -> [UInt8] {
        let serials = try revoked.map { Array(try X509Certificate(der: $0.der).serialNumber) }
        return try setting.issuing.revocationList { $0.serialNumbers = serials }
    }

    private static func head(_ status: String, _ fields: String..., length: Int) -> ScriptedHTTPServer.Step {
        .send(
            (["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(length)", "Connection: close"])
                .joined(separator: "\r\n") + "\r\n\r\n")
    }

    private static func answer(_ list: [UInt8], _ fields: String...) -> [ScriptedHTTPServer.Step] {
        [
            .send(
                (["HTTP/1.1 200 OK"] + fields + ["Content-Length: \(list.count)", "Connection: close"])
                    .joined(separator: "\r\n") + "\r\n\r\n"), .sendOctets(list), .close,
        ]
    }

    private func store(
        _ url: String, _ configure: (inout RevocationConfiguration) throws -> Void = { _ in }
    ) throws -> RevocationStore {
        var configuration = RevocationConfiguration(authorities: [
            .init(
                certificate: try X509Certificate(der: setting.issuing.certificate.der),
                urls: [try #require(URL(string: url))])
        ])
        configuration.secureDataStore = storage
        // Of plain HTTP it says that nothing is validated.
        configuration.remoteDataProvider = PolicyLog.$shared.withValue(log.policyLog) {
            AsyncHTTPClientDataProvider(validator: PathValidator(anchors: TrustAnchors([])))
        }
        try configure(&configuration)
        return try RevocationStore(configuration: configuration, logger: log.logger)
    }

    private func validator(_ store: RevocationStore) throws -> PathValidator {
        PathValidator(anchors: try TrustAnchors(der: [setting.root.root]), revocation: store)
    }

    @Test("fetches plain HTTP, asks again conditionally, and refuses a TLS server from the next handshake on")
    func client() async throws {
        let (clean, revoking) = (try list(), try list(leaf))
        let published = Lock(clean)
        try await ScriptedHTTPServer.with(
            answering: { _, head in
                let list = published.withLock { $0 }
                let tag = "\"\(list.count)\""
                if head.contains(tag) { return [Self.head("304 Not Modified", length: 0), .close] }
                return Self.answer(list, "ETag: \(tag)")
            },
            { lists in
                let store = try store(lists.url("/issuing.crl"))
                try await store.prepare()
                let client = try PinnedTLSClient(
                    trust: .policy(try setting.policy(for: "www.example.com")), host: DialedHost("www.example.com"),
                    validator: try validator(store))
                try await withLoopbackTLSServer(serving: leaf) { server in
                    expectTrust(try await ClientAttempt.make(client, at: server))
                    try await store.update(mode: .forced)
                    expectTrust(try await ClientAttempt.make(client, at: server))
                    published.withLock { $0 = revoking }
                    try await store.update(mode: .forced)
                    expectRefusal(try await ClientAttempt.make(client, at: server), .revoked)
                }
                #expect(lists.requests.map { $0.contains("If-None-Match") } == [false, true, true])
            })
    }

    @Test("follows a redirect over HTTP, and gives up on too many, on too many bytes and on a server that stalls")
    func bounds() async throws {
        let list = try list(leaf)
        try await ScriptedHTTPServer.with({ path in
            switch path {
            case "/moved": [Self.head("302 Found", "Location: /list", length: 0), .close]
            case "/loop": [Self.head("302 Found", "Location: /loop", length: 0), .close]
            case "/large": [.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .flood(1 << 20), .close]
            case "/stall": [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), .stall]
            default: Self.answer(list)
            }
        }) { lists in
            let moved = try store(lists.url("/moved"))
            try await moved.update()
            #expect(moved.lists.first?.list?.count == 1)

            func code(_ path: String, _ configure: (inout RevocationConfiguration) -> Void = { _ in }) async throws
                -> (StoreError.Code, RemoteDataError.Code?)?
            {
                let store = try store(lists.url(path), configure)
                do throws(StoreError) {
                    try await store.update()
                    return nil
                } catch {
                    return (error.code, (error.underlying as? RemoteDataError)?.code)
                }
            }
            let loop = try #require(try await code("/loop"))
            #expect(loop == (.networkError, .redirectRefused))
            let large = try #require(try await code("/large") { $0.maximumBytes = 10_000 })
            #expect(large == (.networkError, .tooLarge))
            let stall = try #require(try await code("/stall") { $0.updateTimeout = .milliseconds(200) })
            #expect(stall.0 == .timedOut)
        }
    }

    @Test("makes a mutual TLS server refuse a client that a new list revokes")
    func mutualTLS() async throws {
        let mutual = try MutualSetting()
        let device = try mutual.device()
        let serial = Array(try X509Certificate(der: device.der).serialNumber)
        let revoking = try mutual.issuing.revocationList { $0.serialNumbers = [serial] }
        let published = Lock(try mutual.issuing.revocationList())
        try await ScriptedHTTPServer.with({ _ in Self.answer(published.withLock { $0 }) }) { lists in
            let store = try store(lists.url()) { configuration in
                configuration.authorities[0].certificate = try X509Certificate(der: mutual.issuing.certificate.der)
            }
            try await store.prepare()
            let server = try PinnedTLSServer(
                clients: StandardPolicy(clients: "devices"), configuration: mutual.configuration(),
                validator: PathValidator(anchors: try TrustAnchors(der: [mutual.root.root]), revocation: store),
                handshakeTimeout: .seconds(60))
            try await MutualServer.with(server) { running in
                let client = try mutual.client(presenting: device)
                _ = try? await ClientAttempt.make(client, address: running.address, port: running.port)
                #expect(try await running.report().client != nil)
                published.withLock { $0 = revoking }
                try await store.update(mode: .forced)
                _ = try? await ClientAttempt.make(client, address: running.address, port: running.port)
                #expect(try await running.report().failure?.code == .revoked)
            }
        }
    }
}
