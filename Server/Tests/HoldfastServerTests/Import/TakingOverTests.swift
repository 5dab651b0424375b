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
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// Apps of a mobile utility server move to this one, and clients notice nothing.
@Suite("Taking over from a mobile utility server")
struct TakingOverTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func server(_ world: World) throws -> OldUtilityServer {
        var server = try OldUtilityServer.withVectorKey()
        try server.add(world.shown)
        try server.add(world.announced)
        return server
    }

    private func rules(
        _ world: World, since: Int64? = nil, forcing gates: Set<Gate> = []
    ) throws -> Publisher.TakeoverRules {
        Publisher.TakeoverRules(
            settings: try AppSettings(canary: 0, anchors: [world.root.root], builds: []), forced: gates, proposer: nil,
            reason: "from the old server", since: since, by: "operator")
    }

    @discardableResult
    private func takeOver(
        _ server: OldUtilityServer, _ world: World, since: Int64? = nil, isRehearsal: Bool = false
    ) async throws -> [Publisher.Proposal] {
        var generator = SystemRandomNumberGenerator()
        return try await world.publisher.takeOver(
            server.takeover(at: world.now), rules(world, since: since), isRehearsal: isRehearsal, using: &generator)
    }

    /// The host is seen, and people approve the new proposal, with an outlook.
    private func approve(_ proposal: Publisher.Proposal, _ app: AppName, _ world: World) async throws -> RandomID {
        try await world.see(world.shown, of: app)
        var generator = SystemRandomNumberGenerator()
        let again = try await world.publisher.proposeAgain(
            proposal.change, proposer: nil, reason: "seen", by: "operator", using: &generator)
        #expect(again.report.isPassed, "\(again.report.results)")
        try await world.approve(again.change)
        return again.change
    }

    /// A client of challenge mode as it was built for the old server.
    private func client(
        _ old: OldUtilityServer, _ provider: any RemoteDataProvider, _ storage: InMemoryDataStore, _ world: World,
        at address: String = "https://mus.example.com"
    ) throws -> CertStore {
        try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "\(address)/app/init?appName=\(old.name)")),
                publicKey: old.publicKey, useChallenge: true),
            secureDataStore: storage, remoteDataProvider: provider, clock: world.clock, logger: Self.silent)
    }

    /// The answers of the old server.
    private struct OldProvider: RemoteDataProvider {
        let key: SigningKey
        let entries: [FingerprintEntry]
        let clock: any WallClock

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
            let challenge = request.headers["X-Cert-Pinning-Challenge"] ?? ""
            let answer = try ChallengeSigner(key: key).answer(to: challenge, entries: entries, at: clock.now)
            return RemoteDataResponse(.body(answer.body), headers: ["X-Cert-Pinning-Signature": answer.signature])
        }
    }

    @Test(
        "Nothing is served before people approve; then old clients go on with the key and the certificates that they know"
    )
    func oldClients() async throws {
        try await World.run { world in
            let old = try server(world)
            let app = try AppName(old.name)
            let proposal = try #require(try await takeOver(old, world).first)
            try await world.publisher.follow()
            #expect(world.publisher.live.current.apps[app] == nil)
            #expect(try await world.publisher.published(app) == nil)
            await expectError(.notApproved) { try await world.publisher.publish(proposal.change) }

            // A client that has asked the old server, and one that begins later.
            let entries = try server(world).takeover(at: world.now).apps.flatMap(\.hosts).flatMap { host in
                try host.certificates.map { certificate in
                    try FingerprintEntry(
                        name: host.name, pin: Pin(subject: .certificate, digest: certificate.fingerprint.bytes),
                        until: Date(timeIntervalSince1970: Double(certificate.expires + 1)))
                }
            }
            let before = OldProvider(
                key: try SigningKey(exportedPrivateKey: old.privateKey), entries: entries, clock: world.clock)
            let storage = InMemoryDataStore()
            _ = try await client(old, before, storage, world).update(mode: .forced)

            let change = try await approve(proposal, app, world)
            try await world.publisher.publish(change)
            let provider = SnapshotProvider(live: world.publisher.live, app: app, clock: world.clock)
            for storage in [storage, InMemoryDataStore()] {
                let store = try client(old, provider, storage, world)
                let update = try await store.update(mode: .forced)
                #expect(update.error == nil, "\(update)")
                for certificate in [world.shown, world.announced] {
                    #expect(try world.letsIn(certificate, store.policy(for: World.host)))
                }
                let stranger = try world.root.leaf(names: [.dns(World.host)])
                #expect(try !world.letsIn(stranger, store.policy(for: World.host)))
            }
            let served = try #require(world.publisher.live.current.apps[app])
            #expect(served.publicKey == old.publicKey)
            // With which FORMATS.md 2 verifies the reference's answer.
            let vector = "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="
            #expect(served.publicKey == vector)
            try await world.everybodyFollows(
                of: app, lettingIn: [world.shown, world.announced], isThorough: false)
        }
    }

    @Test(
        "An app takes the answers of an old server that shares no code, and then those of this one",
        .needs(.cryptography))
    func foreignServer() async throws {
        for hasDepths in [false, true] {
            try await World.run { world in
                var old = try server(world)
                if hasDepths {
                    old.domains.append("img.example.com")
                    old.bypassed = ["img.example.com"]
                }
                let app = try AppName(old.name)
                let storage = InMemoryDataStore()
                func letsIn(_ provider: any RemoteDataProvider, at address: String) async throws {
                    let store = try client(old, provider, storage, world, at: address)
                    let update = try await store.update(mode: .forced)
                    #expect(update.error == nil, "\(update)")
                    #expect(try world.letsIn(world.shown, store.policy(for: World.host)))
                    let stranger = try world.root.leaf(names: [.dns(World.host)])
                    #expect(try !world.letsIn(stranger, store.policy(for: World.host)))
                }
                let proposal = try #require(try await takeOver(old, world).first)
                try await OldServerProgram.listening(with: old, in: world) { port in
                    try await letsIn(
                        URLSessionDataProvider(allowsPlainHTTPToLoopback: true), at: "http://127.0.0.1:\(port)")
                }
                try await world.publisher.publish(try await approve(proposal, app, world))
                try await letsIn(
                    SnapshotProvider(live: world.publisher.live, app: app, clock: world.clock),
                    at: "https://mus.example.com")
                try await world.everybodyFollows(
                    of: app, lettingIn: [world.shown, world.announced], isThorough: false)
            }
        }
    }

    @Test("All apps are taken over or none, and a rehearsal writes nothing")
    func allOrNothing() async throws {
        try await World.run { world in
            let old = try server(world)
            let head = world.catalog.ledger.chain.head
            let rehearsed = try await takeOver(old, world, isRehearsal: true)
            #expect(rehearsed.count == 1)
            #expect(rehearsed.first?.difference.lines.contains { $0.contains(World.host) } == true)
            #expect(world.catalog.ledger.chain.head == head)
            // The second is there already.
            var takeover = try old.takeover(at: world.now)
            takeover = try Takeover(
                takeover.source, takeover.apps + [Takeover.App(world.app, hosts: [], formats: [])])
            var generator = SystemRandomNumberGenerator()
            let error = await expectError(.constraint) {
                try await world.publisher.takeOver(takeover, rules(world), using: &generator)
            }
            #expect(error?.subject == "app bank")
            #expect(world.catalog.ledger.chain.head == head && world.catalog.apps == [world.app])
            try await takeOver(old, world)
            #expect(world.catalog.apps.count == 2)
            await expectError(.constraint) { try await takeOver(old, world) }
        }
    }

    @Test("A key that was in plain text is noted until another takes its place, whatever its row says")
    func plainText() async throws {
        try await World.run { world in
            let old = try server(world)
            let app = try AppName(old.name)
            try await takeOver(old, world)
            let words = "was in plain text before it came here"
            func notes() async throws -> [String] {
                try await world.publisher.examine().map(\.words).filter { $0.contains(words) }
            }
            #expect(try await notes().count == 1)
            #expect(try await world.publisher.standing(of: app).plainTextKeys.count == 1)
            #expect(try await world.publisher.standing(of: world.app).plainTextKeys == [])
            // Another key needs to be asked for, although nothing is published here.
            let place = try SealedKeyTests.place("new-1", app: old.name)
            let key = Catalog.Key(sealed: try SealedKey(sealing: SigningKey().pem, at: place, with: World.secret()))
            await expectError(.constraint) { try await world.catalog.add(key, by: "operator") }
            try await world.catalog.add(key, replacing: true, by: "operator")
            #expect(try await notes() == [])
            #expect(try await world.publisher.standing(of: app).plainTextKeys == [])
        }
    }

    @Test("A gate knows that clients may hold what the old server said before, until they have asked again")
    func earlierDocuments() async throws {
        for isKnown in [false, true] {
            try await World.run { world in
                let old = try server(world)
                let app = try AppName(old.name)
                let since = isKnown ? world.now - 40 * 86_400 : nil
                let proposal = try #require(try await takeOver(old, world, since: since).first)
                try await world.publisher.publish(try await approve(proposal, app, world))
                try await world.everybodyFollows(of: app, isThorough: false)
                try await world.catalog.announce(
                    CertificateChain(world.announced.chain), from: world.now, on: world.catalogHost, of: app,
                    by: "operator")
                let digest = ServerFoundation.Digest(of: world.announced.der)
                func readiness() async throws -> InstallationReadiness {
                    try await world.publisher.readiness(of: digest, on: world.catalogHost, of: app)
                }
                let first = try await readiness()
                #expect(first.isReady == isKnown, "\(first)")
                guard !isKnown else { return }
                #expect(first.until == world.now + AppSettings.defaultStaleness)
                #expect(first.words.contains("another server"))
                world.clock.advance(by: .seconds(AppSettings.defaultStaleness + 1))
                try await world.see(world.shown, of: app)
                #expect(try await readiness().isReady)
            }
        }
    }
}
