import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

/// A server of pins without a network.
private struct PinServer: RemoteDataProvider {
    let answer: @Sendable (RemoteDataRequest) throws -> RemoteDataResponse

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { try answer(request) }
}

/// Where an app has its pins from.
private struct PinSource: Sendable {
    let policy: any TrustPolicy
    /// Publishes pins of these certificates in the place of those before, and has the app fetch them.
    let replace: @Sendable ([TestCertificate]) async throws -> Void
}

@Suite("A pooled connection of PinnedHTTPClient, when its pins are replaced", .timeLimit(.minutes(15)))
struct ReplacedPinsTests {
    enum Format: String, Sendable, CaseIterable {
        case list, challenge, bundle, files
    }

    private static let host = "www.example.com"
    private let setting: HTTPSetting

    init() throws { setting = try HTTPSetting() }

    private func certStore(answersChallenges: Bool) throws -> PinSource {
        let (key, published) = (SigningKey(), Lock<[FingerprintEntry]>([]))
        let server = PinServer { request in
            let entries = published.withLock { $0 }
            guard answersChallenges else {
                return RemoteDataResponse(.body(try PinListDraft(entries).signed(by: key)))
            }
            let answer = try ChallengeSigner(key: key).answer(
                to: request.headers["X-Cert-Pinning-Challenge"], entries: entries, at: SystemWallClock().now)
            return RemoteDataResponse(.body(answer.body), headers: ["X-Cert-Pinning-Signature": answer.signature])
        }
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "https://pins.example.com/list")),
                publicKey: try key.publicKey.base64, useChallenge: answersChallenges),
            secureDataStore: InMemoryDataStore(), remoteDataProvider: server, logger: RecordingLog().logger)
        return PinSource(policy: try store.policy(for: Self.host)) { certificates in
            let expires = Int64(SystemWallClock().now.timeIntervalSince1970) + 86_400
            let entries = try certificates.map {
                try FingerprintEntry(name: Self.host, pin: Pin.certificate($0.der), expires: expires)
            }
            published.withLock { $0 = entries }
            try await store.update(mode: .forced)
        }
    }

    private func repository(
        in folder: URL, asBundle: Bool, pinning first: [TestCertificate]
    ) async throws -> PinSource {
        let (offline, online) = (TUFSigningKey(.ed25519), TUFSigningKey(.p256))
        let (offlineKeys, onlineKeys) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
        let site = TUFRepositoryFolder(folder)
        let backup = try setting.leaf()
        @Sendable func publish(_ certificates: [TestCertificate], _ begun: TUFRepositoryState? = nil) async throws {
            let now = SystemWallClock().now
            var pins = try certificates.map { try PinFile.KeyPin(Pin.publicKey(of: $0.der)) }
            pins.append(try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup))
            let file = try PinFile(
                issuedAt: now, notAfter: now.addingTimeInterval(30 * 86_400),
                refresh: PinFile.Refresh(after: 21_600, grace: 86_400),
                hosts: [try PinFile.Host(try HostPattern(Self.host), pins: pins)])
            var state = begun
            if state == nil { state = try await site.state() }
            guard var state else { return }
            _ = try state.prepare(pins: file.json, at: now)
            _ = try state.sign(by: offline)
            try await site.write(try await TUFPublication.make(of: state, in: site, onlineKeys: [online], at: now))
        }
        let begun = try TUFRepositoryState(
            roles: [.root: offlineKeys, .targets: offlineKeys, .snapshot: onlineKeys, .timestamp: onlineKeys],
            at: SystemWallClock().now)
        try await publish(first, begun)
        let served = site.published
        func url(_ path: String) throws -> URL { try #require(URL(string: "https://pins.example.com/\(path)")) }
        var configuration = PinRepositoryConfiguration(
            source: asBundle
                ? .bundle(try url("bundle.json")) : .files(metadata: try url("metadata"), targets: try url("targets")),
            root: try Data(contentsOf: served.appending(path: "metadata/1.root.json")),
            floor: PinFloor(covering: [try HostPattern(Self.host)]))
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = PinServer { request in
            guard let data = try? Data(contentsOf: served.appending(path: request.url.path)) else {
                throw RemoteDataError(status: 404)
            }
            return RemoteDataResponse(.body(data))
        }
        let pins = try PinRepository(checking: configuration, logger: RecordingLog().logger)
        return PinSource(policy: try pins.policy(for: Self.host)) { certificates in
            try await publish(certificates)
            try await pins.update(mode: .forced)
        }
    }

    @Test(
        "ends before a further request when they leave its server out, and goes on when they do not",
        arguments: Format.allCases)
    func replaced(format: Format) async throws {
        let (leaf, other) = (try setting.leaf(), try setting.leaf())
        try await withTemporaryFolder { folder in
            let source =
                switch format {
                case .list: try certStore(answersChallenges: false)
                case .challenge: try certStore(answersChallenges: true)
                case .bundle: try await repository(in: folder, asBundle: true, pinning: [leaf])
                case .files: try await repository(in: folder, asBundle: false, pinning: [leaf])
                }
            try await source.replace([leaf])
            setting.manager.add(policy: source.policy)
            try await withOrigin(leaf) { origin in
                try await setting.withClient { client in
                    try await client.expectAnswer(origin.url())
                    try await source.replace([leaf, other])
                    let accepted = origin.counters.accepted
                    try await client.expectAnswer(origin.url())
                    #expect(origin.counters.accepted == accepted)
                    try await source.replace([other])
                    #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                    #expect(origin.counters.requests.count == 2)
                    // The mismatch began an update, which the first of these may wait for: it brings what was there before.
                    for _ in 0..<2 { try await source.replace([other, leaf]) }
                    try await client.expectAnswer(origin.url())
                }
            }
        }
    }
}
