import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import OwnParts
import Testing

/// The parts that an application may write itself, each in the place of Holdfast's own.
@Suite("Parts of an application's own")
struct OwnPartsTests {
    private let stage: Stage
    private let host: HostPattern

    init() throws {
        stage = try Stage()
        host = try HostPattern("localhost")
    }

    private func trust(
        _ certificate: TestCertificate, validator: (any ChainValidator)? = nil
    ) throws -> ServerTrust {
        ServerTrust(
            chain: PresentedChain(certificate.chain), purpose: .server(identity: try DialedHost("localhost")),
            validator: validator ?? PathValidator(anchors: stage.anchors))
    }

    @Test("A policy decides by the keys that it knows, keeps what policies promise, and stands beside others")
    func policy() async throws {
        let paired = try PairedDevicePolicy(hostName: "localhost", keys: [Pin.publicKey(of: stage.server.der)])
        try await TrustPolicyConformance.check(paired, accepting: try trust(stage.server), at: .now)
        let manager = TrustManager(policies: [paired, StandardPolicy(host: try HostPattern("www.example.com"))])
        #expect(manager.evaluate(try trust(stage.server), at: .now).isTrusted)
        let refusal = manager.evaluate(try trust(stage.impostor()), at: .now)
        #expect(refusal.failure?.code == .pinMismatch && refusal.policyName == "localhost")
    }

    @Test("A source says what a host requires, and the pinned policy judges")
    func pinSource() throws {
        let (inUse, backup) = try stage.pins()
        let source = ConfiguredPins(["localhost": try PinSet(pins: [Pin(inUse)], backups: [Pin(backup)])])
        let policy = PinnedPolicy(scope: .hosts(host), source: source)
        #expect(policy.evaluate(try trust(stage.server), at: .now).matchedPins.map(\.description) == [inUse])
        #expect(policy.evaluate(try trust(stage.impostor()), at: .now).failure?.code == .pinMismatch)
        let silent = PinnedPolicy(scope: .hosts(host), source: ConfiguredPins([:]))
        #expect(silent.evaluate(try trust(stage.server), at: .now).failure?.code == .noUsablePins)
    }

    @Test("A store updates through a provider and keeps its list in a storage, from which it starts again")
    func store() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "own-parts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = SigningKey()
        var list = PinListDraft()
        list.add(
            try FingerprintEntry(
                name: "localhost", pin: .certificate(stage.server.der), until: .now.addingTimeInterval(86_400)))
        try list.signed(by: key).write(to: folder.appending(path: "pins.json"))
        let configuration = CertStoreConfiguration(
            serviceURL: try #require(URL(string: "https://lists.example/pins.json")),
            publicKey: try key.publicKey.base64)
        func store() async throws -> CertStore {
            try await CertStore.load(
                configuration: configuration, secureDataStore: FolderStorage(folder),
                remoteDataProvider: FolderProvider(folder))
        }
        let first = try await store()
        #expect(try await first.update().error == nil)
        try FileManager.default.removeItem(at: folder.appending(path: "pins.json"))

        let restarted = try await store()
        let policy = restarted.policy(for: host)
        #expect(restarted.entryCount == 1)
        #expect(policy.evaluate(try trust(stage.server), at: .now).isTrusted)
        #expect(policy.evaluate(try trust(stage.impostor()), at: .now).failure?.code == .pinMismatch)
        let error = await #expect(throws: StoreError.self) { try await restarted.update(mode: .forced) }
        #expect(error?.code == .networkError && (error?.underlying as? RemoteDataError)?.status == 404)
    }

    @Test("A validator makes the paths that policies judge, and has reasons of its own")
    func validator() throws {
        let inventory = InventoryValidator([try X509Certificate(der: stage.server.der)])
        let policy = StandardPolicy(host: host)
        #expect(policy.evaluate(try trust(stage.server, validator: inventory), at: .now).isTrusted)
        let refusal = policy.evaluate(try trust(stage.impostor(), validator: inventory), at: .now)
        #expect(refusal.failure?.code == .notInInventory)
        let late = Date.now.addingTimeInterval(400 * 86_400)
        #expect(policy.evaluate(try trust(stage.server, validator: inventory), at: late).failure?.code == .expired)
    }
}
