import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Logging
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Answers real clients from the snapshot, as the public listener does.
struct SnapshotProvider: RemoteDataProvider {
    let live: LiveSnapshot
    let app: AppName
    let clock: any WallClock

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let snapshot = live.current
        if let challenge = request.headers["X-Cert-Pinning-Challenge"] {
            guard let app = snapshot.apps[app], let key = app.key else { throw RemoteDataError(status: 503) }
            let answer = try ChallengeSigner(key: key).answer(to: challenge, entries: app.entries, at: clock.now)
            return RemoteDataResponse(.body(answer.body), headers: ["X-Cert-Pinning-Signature": answer.signature])
        }
        guard let document = snapshot.document(at: request.url.path.dropFirst().utf8) else {
            throw RemoteDataError(status: 404)
        }
        return RemoteDataResponse(.body(Data(document.bytes)), headers: ["ETag": document.entityTag])
    }
}

extension World {
    private func url(_ path: String) throws -> URL {
        try #require(URL(string: "https://pins.example.com/\(path)"))
    }

    private var provider: SnapshotProvider { SnapshotProvider(live: publisher.live, app: app, clock: clock) }

    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The public key that apps are built with.
    func publicKey() async throws -> String {
        let key = try #require(try await catalog.key(.fingerprints, of: app))
        return Base64.encode(key.publicKey.suffix(65))
    }

    /// A `CertStore` with what a storage has, nothing by default.
    func certStore(
        challenging: Bool = false, path: String? = nil, storage: InMemoryDataStore = InMemoryDataStore()
    ) async throws -> CertStore {
        try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try url(path ?? "lists/\(app).json"), publicKey: try await publicKey(),
                useChallenge: challenging),
            secureDataStore: storage, remoteDataProvider: provider, clock: clock, logger: Self.silent)
    }

    /// A trust-server client with what a storage has, nothing by default.
    func trustServerStore(storage: InMemoryDataStore = InMemoryDataStore()) async throws -> TrustServerStore {
        let key = try #require(try await catalog.key(.trustServer, of: app))
        var configuration = TrustServerConfiguration(
            url: try url("trust/\(Self.customer).json.signed"),
            signer: try TrustServerSigner(certificate: Data(try #require(key.certificate))), customer: Self.customer)
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = storage
        return try TrustServerStore(checking: configuration, clock: clock, logger: Self.silent)
    }

    /// Whether a policy lets a certificate in now.
    func letsIn(_ certificate: TestCertificate, _ policy: any TrustPolicy) throws -> Bool {
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain), purpose: .server(identity: try DialedHost(Self.host, port: 443)),
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        return policy.evaluate(trust, at: clock.now).isTrusted
    }

    /// The clients of every format that get in with a certificate, by name.
    func clientsThatGetIn(_ certificate: TestCertificate) async throws -> Set<String> {
        var names: Set<String> = []
        for challenging in [false, true] {
            let store = try await certStore(challenging: challenging)
            _ = try await store.update(mode: .forced)
            if try letsIn(certificate, store.policy(for: Self.host)) {
                names.insert(challenging ? "challenge" : "list")
            }
        }
        let store = try await trustServerStore()
        _ = try await store.update(mode: .forced)
        for (name, subject) in [("certificates", Pin.Subject.certificate), ("keys", .publicKey)]
        where try letsIn(certificate, store.policy(for: Self.host, pinning: subject)) {
            names.insert(name)
        }
        if let bytes = publisher.live.current.document(at: "pins/\(app).pins.json".utf8)?.bytes {
            let file = try PinFile(json: Data(bytes))
            if try file.policies().allSatisfy({ try letsIn(certificate, $0) }) { names.insert("pin file") }
        }
        return names
    }

    static let everybody: Set<String> = ["list", "challenge", "certificates", "keys", "pin file"]
}
