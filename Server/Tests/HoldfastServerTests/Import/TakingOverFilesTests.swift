import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Logging
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel

/// The data of smaller servers: folders of a trust server, signed lists and pin files.
@Suite("Taking over folders and files")
struct TakingOverFilesTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func taken(
        _ takeover: Takeover, _ world: World, forcing gates: Set<Gate> = []
    ) async throws -> AppName {
        var generator = SystemRandomNumberGenerator()
        let rules = Publisher.TakeoverRules(
            settings: try AppSettings(canary: 0, anchors: [world.root.root], builds: []), forced: gates, proposer: nil,
            reason: "a test", by: "operator")
        let proposal = try #require(
            try await world.publisher.takeOver(takeover, rules, using: &generator).first)
        let app = try #require(takeover.apps.first).name
        try await world.publisher.follow()
        #expect(try await world.publisher.published(app) == nil)
        try await world.see(world.shown, of: app)
        let again = try await world.publisher.proposeAgain(
            proposal.change, forcing: gates, proposer: nil, reason: "seen", by: "operator", using: &generator)
        try await world.approve(again.change)
        try await world.publisher.publish(again.change)
        return app
    }

    /// The folder of a trust server with what the host of a world shows, and will.
    private func trustServer(
        _ key: TrustServerKey, _ world: World, in folder: URL, at time: Date, keys: String = "data", mode: Int = 0o600
    ) throws {
        try OldTrustServer.write(key, [world.shown, world.announced], in: folder, at: time, keys: keys, mode: mode)
    }

    private func store(
        _ key: TrustServerKey, _ world: World, _ provider: any RemoteDataProvider, _ storage: InMemoryDataStore
    ) throws -> TrustServerStore {
        var configuration = TrustServerConfiguration(
            url: try #require(URL(string: "https://pins.example.com/trust/old.json.signed")),
            signer: try TrustServerSigner(certificate: key.certificate), customer: "old")
        configuration.remoteDataProvider = provider
        configuration.secureDataStore = storage
        return try TrustServerStore(checking: configuration, clock: world.clock, logger: Self.silent)
    }

    private struct FileProvider: RemoteDataProvider {
        let data: Data
        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(data)) }
    }

    @Test(
        "Clients of a trust server go on from its last document, with the certificate that they were built with",
        arguments: ["data", "certs"])
    func trustServer(keys: String) async throws {
        try await World.run { world in
            let key = try TrustServerKey(customer: "old", kind: .p256, at: world.clock.now)
            let folder = world.folder.appending(path: "trust")
            try trustServer(key, world, in: folder, at: world.clock.now, keys: keys)
            let old = FileProvider(data: try Data(contentsOf: folder.appending(path: "output/old.json.signed")))
            let storage = InMemoryDataStore()
            let before = try store(key, world, old, storage)
            _ = try await before.update(mode: .forced)
            let first = try #require(before.timestamp)
            world.clock.advance(by: .seconds(120))

            let takeover = try Takeover(trustServer: folder, as: nil, at: world.now, until: world.now + 86_400 * 180)
            #expect(takeover.apps.first?.notes.contains { $0.hasPrefix("forgotten.example.com:8443") } == true)
            #expect(takeover.apps.first?.keys.map(\.configured) == [key.certificate.base64EncodedString()])
            // A document does not say which of its keys is the backup.
            let app = try await taken(takeover, world, forcing: [.lint])
            let provider = SnapshotProvider(live: world.publisher.live, app: app, clock: world.clock)
            for storage in [storage, InMemoryDataStore()] {
                let store = try store(key, world, provider, storage)
                _ = try await store.update(mode: .forced)
                #expect(try #require(store.timestamp) > first)
                for certificate in [world.shown, world.announced] {
                    for subject in [Pin.Subject.certificate, .publicKey] {
                        #expect(try world.letsIn(certificate, store.policy(for: World.host, pinning: subject)))
                    }
                }
                let stranger = try world.root.leaf(names: [.dns(World.host)])
                #expect(try !world.letsIn(stranger, store.policy(for: World.host, pinning: .publicKey)))
            }
            #expect(try await world.publisher.standing(of: app).plainTextKeys.count == 1)
        }
    }

    @Test("A document by another key or from the future is refused, and a key that others may read")
    func refusedTrustServers() async throws {
        try await World.run { world in
            let key = try TrustServerKey(customer: "old", kind: .p256, at: world.clock.now)
            func read(_ folder: URL, as name: AppName? = nil) throws -> Takeover {
                try Takeover(trustServer: folder, as: name, at: world.now, until: world.now + 86_400)
            }
            let loose = world.folder.appending(path: "loose")
            try trustServer(key, world, in: loose, at: world.clock.now, mode: 0o644)
            #expect(expectError(.file, { try read(loose) })?.expected == "mode 0600")
            let future = world.folder.appending(path: "future")
            try trustServer(key, world, in: future, at: world.clock.now.addingTimeInterval(3_600))
            #expect(expectError(.outOfTurn, { try read(future) })?.found == "one from the future")
            let strange = world.folder.appending(path: "strange")
            try trustServer(key, world, in: strange, at: world.clock.now)
            let other = try TrustServerKey(customer: "old", kind: .p256, at: world.clock.now)
            try other.certificate.write(to: strange.appending(path: "output/old.crt"))
            expectError(.invalidValue, { try read(strange) })
            try Data(other.privateKeyPEM.utf8).write(to: strange.appending(path: "data/old.key"))
            expectError(.invalidSignature, { try read(strange) })
            expectError(.notFound, { try read(world.folder.appending(path: "nothing")) })
        }
    }

    @Test("Clients of a signed list go on with its key; an encrypted key is not noted as one in plain text")
    func list() async throws {
        try await World.run { world in
            let key = SigningKey()
            let entries = try [world.shown, world.announced].map { certificate in
                try FingerprintEntry(
                    name: World.host,
                    pin: Pin(subject: .certificate, digest: ServerFoundation.Digest(of: certificate.der).bytes),
                    until: world.clock.now.addingTimeInterval(86_400 * 100))
            }
            let list = Array(try PinListDraft(entries).signed(by: key))
            let pem = try key.pem(password: Array("secret".utf8), rounds: 1_000)
            let app = try AppName("listed")
            func read(_ list: [UInt8], _ pem: String, _ password: String?) throws -> Takeover {
                try Takeover(
                    list: list, key: pem, password: password.map { Array($0.utf8) }, as: app, at: world.now,
                    refresh: 3_600)
            }
            expectError(.invalidValue, { try read(list, pem, "wrong") })
            expectError(.invalidSignature, { try read(list, SigningKey().pem, nil) })
            #expect(try read(list, key.pem, nil).apps.first?.keys.first?.wasInPlainText == true)
            _ = try await taken(read(list, pem, "secret"), world)
            #expect(try await world.publisher.standing(of: app).plainTextKeys == [])
            let store = try CertStore(
                checking: CertStoreConfiguration(
                    serviceURL: try #require(URL(string: "https://pins.example.com/lists/listed.json")),
                    publicKey: try key.publicKey.base64, useChallenge: false),
                secureDataStore: InMemoryDataStore(),
                remoteDataProvider: SnapshotProvider(live: world.publisher.live, app: app, clock: world.clock),
                clock: world.clock, logger: Self.silent)
            let update = try await store.update(mode: .forced)
            #expect(update.error == nil)
            for certificate in [world.shown, world.announced] {
                #expect(try world.letsIn(certificate, store.policy(for: World.host)))
            }
        }
    }

    @Test("A pin file is published as it was, and what contents cannot say is refused by its name")
    func pinFile() async throws {
        try await World.run { world in
            let pins = try [world.shown, world.announced].map {
                Base64.encode(ServerFoundation.Digest(of: try $0.subjectPublicKeyInfo).bytes)
            }
            func file(_ more: String = "", _ ofHost: String = "") -> [UInt8] {
                // One of each role needs both.
                let role = ofHost.contains("leafAndIssuer") ? "issuer" : "leaf"
                return Array(
                    """
                    {"schema":1,"hosts":[{"host":"\(World.host)"\(ofHost),"pins":[{"pin":"sha256/\(pins[0])"},\
                    {"pin":"sha256/\(pins[1])","role":"\(role)","state":"backup"}]}]\(more)}
                    """.utf8)
            }
            let app = try AppName("pinned")
            for (more, ofHost, found) in [
                ("", #","mode":"report""#, "a mode"), ("", #","require":"leafAndIssuer""#, "a requirement"),
                ("", #","onExpiry":"systemTrust""#, "what follows the end"),
            ] {
                let error = expectError(
                    .notPublishable, { try Takeover(pins: file(more, ofHost), as: app, refresh: 3_600) })
                #expect(error?.found == found)
            }
            expectError(.invalidValue, { try Takeover(pins: Array("{}".utf8), as: app, refresh: 3_600) })
            let pinned = file(#","app":"com.example.bank""#)
            _ = try await taken(Takeover(pins: pinned, as: app, refresh: 3_600), world)
            let bytes = try #require(world.publisher.live.current.document(at: "pins/pinned.pins.json".utf8)?.bytes)
            let policies = try PinFile(json: Data(bytes)).policies()
            #expect(try PinFile(json: Data(bytes)).app == "com.example.bank")
            #expect(!policies.isEmpty)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            for policy in policies {
                #expect(try world.letsIn(world.shown, policy))
                #expect(try world.letsIn(world.announced, policy))
                #expect(try !world.letsIn(stranger, policy))
            }
        }
    }
}
