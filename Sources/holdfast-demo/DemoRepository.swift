import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Logging
import NIOSSL

/// The part of the demo with a repository of pins. The served files may be old, unchanged for too long, or signed with
/// stolen keys.
struct DemoRepository {
    private let stage: DemoStage
    private let site: DemoRepositorySite
    private let repository: PinRepository
    private let published: DemoFile
    private let clock: ManualClock
    /// The folder in which the thief makes repositories.
    private let folder: URL
    /// The server's next certificate, the pin of the key after that, and the certificate of an impostor.
    private let next: TestCertificate
    private let spare: Pin
    private let impostor: TestCertificate
    private let tell: (DemoStory.Event) -> Void

    /// Runs this part, and reports each event as it happens.
    static func tell(on stage: DemoStage, _ tell: @escaping (DemoStory.Event) -> Void) async throws {
        let clock = ManualClock(now: Date(wholeSeconds: stage.clock.now.wholeSeconds))
        let next = try stage.issuing.impersonate(stage.original)
        let keys = DemoRepositorySite.Keys(
            root: (0..<3).map { _ in TUFSigningKey(.ed25519) }, threshold: 2, targets: TUFSigningKey(),
            online: TUFSigningKey())
        try await withTemporaryFolder { folder in
            let site = try await DemoRepositorySite(
                in: folder.appending(path: "site"), host: HostPattern(stage.host), keys: keys,
                pins: [try Pin.publicKey(of: stage.original.der), try Pin.publicKey(of: next.der)], clock: clock)
            let published = DemoFile(try site.bundle)
            try await published.serving(on: stage, as: "bundle.json") { url in
                var configuration = PinRepositoryConfiguration(
                    source: .bundle(url), root: try site.root(1), floor: PinFloor(covering: [HostPattern(stage.host)]))
                configuration.remoteDataProvider = AsyncHTTPClientDataProvider(
                    validator: PathValidator(anchors: stage.anchors), clock: stage.clock)
                configuration.secureDataStore = InMemoryDataStore()
                let repository = try PinRepository(
                    checking: configuration, clock: clock,
                    logger: Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() })
                let scene = DemoRepository(
                    stage: stage, site: site, repository: repository, published: published, clock: clock,
                    folder: folder, next: next,
                    spare: try Pin.publicKey(spkiDER: TestKey(.p256).subjectPublicKeyInfoDER),
                    impostor: try stage.issuing.impersonate(stage.original), tell: tell)
                try await scene.run()
            }
        }
    }

    private func run() async throws {
        try await connect("the trusted server, nothing stored", stage.original, .accepted)
        let first = try site.bundle
        try await site.publish([try Pin.publicKey(of: next.der), spare], signedBy: [site.keys.targets])
        try await update("new pins, the old key withdrawn", try site.bundle)
        try await connect("the old key, stolen", stage.original, .refused(.pinMismatch))
        try await update("rollback: the files of before", first, .rolledBack)
        try await connect("the old key, after the rollback", stage.original, .refused(.pinMismatch))

        clock.advance(by: .seconds(15 * DemoRepositorySite.day))
        try await update("freeze: the same files for 15 days", try site.bundle, .expired, leaving: .stale)
        try await connect("the trusted server, meanwhile", next, .accepted)
        try await site.publish(online: [site.keys.online])
        try await update("a new timestamp, by the online key", try site.bundle)

        try await rootKeyStolen(online: try await onlineKeyStolen())
        try await connect("machine in the middle, after all that", impostor, .refused(.pinMismatch))
        try await connect("the trusted server, after all that", next, .accepted)
    }

    /// With the online key a thief can sign timestamps and snapshots, but no pins. The thief can raise versions, so
    /// that clients refuse the genuine files. The next root ends that.
    /// - Returns: the new online key.
    private func onlineKeyStolen() async throws -> TUFSigningKey {
        let own = TUFSigningKey()
        let thief = try await thief(.init(root: [own], threshold: 1, targets: own, online: site.keys.online))
        // The versions must be ahead of the genuine ones; otherwise no client would read the pins.
        for _ in 0..<4 { try await thief.publish(try thiefsPins, signedBy: [own]) }
        try await update("stolen online key: the thief's pins", try site.bundle(withFilesOf: thief), .notSigned)
        try await update("the true files, now overtaken", try site.bundle, .rolledBack)
        let replacement = TUFSigningKey()
        try await site.publish(
            signedBy: Array(site.keys.root.prefix(2)), online: [replacement, site.keys.online]
        ) { state in
            for role in [TUFRole.timestamp, .snapshot] {
                try state.change(
                    role, adding: [replacement.publicKey], removing: [site.keys.online.publicKey.id], at: clock.now)
            }
        }
        try await update("the next root: another online key", try site.bundle)
        try await update("the stolen online key, once more", try site.bundle(withFilesOf: thief), .notSigned)
        return replacement
    }

    /// Two of three root keys must sign. A thief who has one of them cannot make a root, and the other two replace it.
    private func rootKeyStolen(online: TUFSigningKey) async throws {
        let stolen = site.keys.root[2]
        let thief = try await thief(
            .init(root: [stolen], threshold: 1, targets: TUFSigningKey(), online: TUFSigningKey()))
        // The next root for clients is the third.
        for _ in 0..<2 {
            try await thief.publish(signedBy: [stolen], online: [thief.keys.online]) {
                try $0.change(.root, at: clock.now)
            }
        }
        let forged = try site.bundle(withFilesOf: thief, root: try thief.root(3))
        try await update("stolen root key: the thief's root", forged, .notSigned)
        try await site.publish(signedBy: Array(site.keys.root.prefix(2)), online: [online]) { state in
            try state.change(
                .root, adding: [TUFSigningKey(.ed25519).publicKey], removing: [stolen.publicKey.id], at: clock.now)
        }
        try await update("the next root: another key instead", try site.bundle)
    }

    private func thief(_ keys: DemoRepositorySite.Keys) async throws -> DemoRepositorySite {
        try await DemoRepositorySite(
            in: folder.appending(path: "thief-\(UUID().uuidString)"), host: site.host, keys: keys,
            pins: try thiefsPins, clock: clock)
    }

    /// The impostor's key, and a backup, because every pin file has one.
    private var thiefsPins: [Pin] {
        get throws { [try Pin.publicKey(of: impostor.der), spare] }
    }

    // MARK: What the client does

    private func connect(
        _ server: String, _ certificate: TestCertificate, _ expected: DemoStep.Expectation
    ) async throws {
        let step = DemoStep(
            server: server, policy: .repository, version: .tlsv13, chain: certificate.chain, key: certificate.key,
            expected: expected)
        tell(.connection(try await DemoConnection(stage: stage, step: step, repository: repository).run()))
    }

    /// Serves a bundle and updates. Afterward clients must accept the server's next key, and neither the old one nor
    /// the thief's.
    private func update(
        _ what: String, _ bundle: Data, _ expected: TUFError.Code? = nil, leaving state: StoreState = .fresh
    ) async throws {
        // After a mismatch the repository starts an update, which a forced update would join. So wait for it first.
        try await repository.policy(for: site.host).prepare()
        published.replace(with: bundle)
        var failure: StoreError?
        do throws(StoreError) {
            _ = try await repository.update(mode: .forced)
        } catch {
            failure = error
        }
        let hasRightPins = isTrusted(next) && !isTrusted(stage.original) && !isTrusted(impostor)
        tell(
            .update(
                DemoUpdate(
                    what: what, kind: .repository(repository.state), expected: expected.map { .metadata($0) },
                    error: failure, hasRightPins: hasRightPins && repository.state == state)))
    }

    private func isTrusted(_ certificate: TestCertificate) -> Bool {
        let trust = ServerTrust(certificates: certificate.chain, host: stage.host, anchors: stage.anchors)
        return repository.policy(for: site.host).evaluate(trust, at: clock.now).isTrusted
    }
}
