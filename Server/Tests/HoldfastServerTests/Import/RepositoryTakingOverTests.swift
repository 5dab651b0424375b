import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("Taking over a repository", .timeLimit(.minutes(10)))
struct RepositoryTakingOverTests {
    private static let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)

    /// Apps of both roots, of both kinds, with what they got where the repository was.
    private func apps(_ old: OldRepository, _ clock: any WallClock) throws -> [RepositoryApp] {
        try [(1, true), (1, false), (2, true), (2, false)].map { root, isBundle in
            try RepositoryApp(
                "https://old.example.com/public", root: old.root(root), isBundle: isBundle,
                provider: FolderProvider(folder: old.folder.folder), clock: clock,
                application: OldRepository.application)
        }
    }

    /// The same app, whose address leads to another server by now.
    private func moved(
        _ app: RepositoryApp, to base: String, _ provider: any RemoteDataProvider, keepingWhatItHas: Bool = true
    ) throws -> RepositoryApp {
        try RepositoryApp(
            base, root: app.configuration.root, isBundle: app.isBundle, provider: provider, clock: app.clock,
            application: OldRepository.application, storage: keepingWhatItHas ? app.storage : InMemoryDataStore())
    }

    private func publish(
        _ change: RandomID, _ old: OldRepository, of name: AppName, _ world: World
    ) async throws {
        try await world.see(world.shown, of: name)
        var generator = SystemRandomNumberGenerator()
        let again = try await world.publisher.proposeAgain(
            change, proposer: nil, reason: "seen", by: "test", using: &generator)
        try await world.approve(again.change)
        try await world.publisher.sign(again.change, old.holders, in: world.folder)
        try await world.publisher.publish(again.change)
        try await everybodyFollows(name, world)
    }

    /// Clients of every kind that are installed now.
    private func everybodyFollows(_ name: AppName, _ world: World) async throws {
        try await world.everybodyFollows(
            of: name, lettingIn: [world.shown, world.announced], hasChallenges: false, isThorough: false)
    }

    @Test("PinRepository of every root, a client of The Update Framework and python-tuf go on without a new build")
    func everybody() async throws {
        try await ServeSite.run { site in
            let time = site.clock.now
            let old = try await OldRepository(
                in: site.folder.appending(path: "old"),
                pins: OldRepository.pins([site.shown, site.announced], at: time),
                at: time)
            let apps = try apps(old, site.clock)
            for app in apps { #expect(try await app.letsIn(site.shown, trusting: site.root)) }
            let (name, publisher) = (try AppName("moved"), site.open.publisher)
            let proposal = try await publisher.takeOver(
                old.folder.folder, keys: old.keys, as: name, anchors: site.root)
            let host = try CatalogHost(name: World.host)
            let seen = try Observation(
                vantage: Vantage.usual, address: "192.0.2.1", chain: CertificateChain(site.shown.chain),
                firstSeen: site.now,
                lastSeen: site.now)
            try await site.open.catalog.note([(host: host, seen: [seen])], from: Vantage.usual, of: name, by: "test")
            var generator = SystemRandomNumberGenerator()
            let change = try await publisher.proposeAgain(
                proposal.change, proposer: nil, reason: "seen", by: "test", using: &generator
            ).change
            let subject = try await site.open.catalog.change(change).subject(for: site.open.catalog.approvers())
            for approver in [Approver.alice, .bob] {
                try await site.open.catalog.add(try approver.says(.approve, subject, until: site.now + 86_400))
            }
            // Nothing of it is served before.
            try await publisher.follow()
            #expect(!publisher.live.current.documents.keys.contains { $0.hasPrefix("repo/") })
            #expect(try publisher.folder.read("repo/moved/metadata/1.root.json") == nil)
            try await publisher.sign(change, old.holders, in: site.folder)
            try await publisher.publish(change)
            try await publisher.everybodyFollows(
                name, lettingIn: [site.shown, site.announced], trusting: site.root, clock: site.clock,
                hasChallenges: false, isThorough: false)
            #expect(try publisher.folder.read("repo/moved/metadata/2.root.json").map { Data($0) } == old.root(2))

            let serving = try ServingSite()
            serving.time.withLock { $0 = site.now }
            serving.live.replace(with: publisher.live.current)
            let stranger = try site.root.leaf(names: [.dns(World.host)])
            try await serving.listening { port in
                let base = "http://127.0.0.1:\(port)/repo/moved"
                for app in apps {
                    for keeps in [true, false] {
                        let app = try moved(app, to: base, Self.provider, keepingWhatItHas: keeps)
                        for certificate in [site.shown, site.announced] {
                            #expect(try await app.letsIn(certificate, trusting: site.root))
                        }
                        #expect(try await !app.letsIn(stranger, trusting: site.root))
                    }
                }
                let url = try #require(URL(string: base))
                for version in [1, 2] {
                    let root = try old.root(version)
                    let client = TUFClient(
                        store: MetadataMemory(),
                        source: HTTPRepositorySource(
                            metadata: url.appending(path: "metadata"), targets: url.appending(path: "targets"),
                            provider: Self.provider), trustedRoot: root)
                    let update = try await client.refresh()
                    let pins = try await update.data(of: update.target("pins.json"))
                    #expect(try PinFile(json: pins).app == OldRepository.application)
                    guard Need.pythonTUF.runsPart() else { continue }
                    let folder = site.folder.appending(path: "python-\(version)")
                    #expect(try await TUFPython.follow(base, root: root, in: folder) == pins)
                }
            }
        }
    }

    @Test("What comes after goes on from it: timestamps, other keys of the server, and a next root of the same holders")
    func goingOn() async throws {
        try await World.run { world in
            let old = try await OldRepository(
                in: world.folder.appending(path: "old"),
                pins: OldRepository.pins([world.shown, world.announced], at: world.clock.now), at: world.clock.now)
            let apps = try apps(old, world.clock)
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            let version = try #require(try await old.folder.state().live?.timestamp.version)
            let name = try AppName("moved")
            // The folder that a web server serves is enough.
            let proposal = try await world.publisher.takeOver(
                old.folder.published, keys: old.keys, as: name, anchors: world.root)
            let warnings = try await world.publisher.standing(of: name).plainTextKeys
            #expect(warnings.count == 2 && warnings.allSatisfy { $0.contains("app repository rotate") })
            try await publish(proposal.change, old, of: name, world)
            let base = "https://pins.example.com/repo/moved"
            let provider = SnapshotProvider(live: world.publisher.live, app: name, clock: world.clock)
            func installedAppsFollow() async throws {
                for app in apps {
                    #expect(try await moved(app, to: base, provider).letsIn(world.shown, trusting: world.root))
                }
            }
            try await installedAppsFollow()
            let first = try #require(try await world.catalog.repository(of: name).state().live?.timestamp.version)
            #expect(first == version + 1)
            // The imported repository is history now, and the draft is empty.
            #expect(try await world.catalog.repository(of: name).draft() == .empty)

            try await world.pass(2 * 86_400)
            try await world.see(world.shown, of: name)
            #expect(try await world.publisher.renew().signed.contains("repo/moved/metadata/timestamp.json"))
            try await installedAppsFollow()
            var generator = SystemRandomNumberGenerator()
            _ = try await world.publisher.replaceOnlineKeys(of: name, by: "operator", using: &generator)
            try await world.publisher.pass(name, to: [old.holders.root], in: world.folder)
            let outcome = try await world.publisher.publishRoot(of: name, by: "operator")
            #expect(outcome.version == 3 && outcome.hasOtherKeys && outcome.problems == [])
            try await installedAppsFollow()
            #expect(try await world.publisher.standing(of: name).plainTextKeys == [])
        }
    }

    @Test("Pins that say what the first change says need no other signature of their holders")
    func unchanged() async throws {
        try await World.run { world in
            let name = try AppName("moved")
            let lifetime: Int64 = 100 * 86_400
            func content(_ root: ServerFoundation.Digest) async throws -> Content {
                let keys = try [(world.shown, ContentHost.Key.State.active), (world.announced, .backup)].map {
                    ContentHost.Key(pin: ServerFoundation.Digest(of: try $0.0.subjectPublicKeyInfo), state: $0.1)
                }
                return try Content(
                    app: name, hosts: [ContentHost(name: World.host, keys: keys)],
                    formats: [
                        ContentFormat(
                            .repository, refresh: 21_600, root: root, application: OldRepository.application)
                    ], end: world.now + lifetime)
            }
            let said = try await content(.nothing)
            let pins = try PinFileMaker(content: said, format: #require(said.repository))
                .pinFile(at: world.now)
            let old = try await OldRepository(
                in: world.folder.appending(path: "old"), pins: Data(pins), at: world.clock.now)
            let apps = try apps(old, world.clock)
            let proposal = try await world.publisher.takeOver(
                old.folder.folder, keys: old.keys, as: name, anchors: world.root, lifetime: lifetime)
            try await world.see(world.shown, of: name)
            var generator = SystemRandomNumberGenerator()
            let again = try await world.publisher.proposeAgain(
                proposal.change, proposer: nil, reason: "seen", by: "test", using: &generator)
            try await world.approve(again.change)
            try await world.publisher.publish(again.change)
            try await everybodyFollows(name, world)
            let provider = SnapshotProvider(live: world.publisher.live, app: name, clock: world.clock)
            for app in apps {
                let app = try moved(app, to: "https://pins.example.com/repo/moved", provider)
                #expect(try await app.letsIn(world.announced, trusting: world.root))
            }
        }
    }

    @Test(
        "Keys of holders, keys of nobody, a repository that does not verify, and pins that contents cannot say are refused"
    )
    func refusals() async throws {
        try await World.run { world in
            let (name, time) = (try AppName("moved"), world.clock.now)
            func take(_ folder: URL, _ keys: [String], _ code: ServerError.Code) async -> ServerError? {
                await expectError(code) {
                    _ = try await Takeover(repository: folder, keys: keys, password: nil, as: name, refresh: 3_600)
                }
            }
            let pins = try OldRepository.pins([world.shown, world.announced], at: time)
            let old = try await OldRepository(in: world.folder.appending(path: "old"), pins: pins, at: time)
            let offline = [old.holders.root, old.holders.targets[0]].compactMap(\.pem)
            for (key, role) in zip(offline, ["root", "targets"]) {
                let error = await take(old.folder.folder, old.keys + [key], .notPublishable)
                #expect(error?.found == "one that signs \(role) as well")
            }
            _ = await take(old.folder.folder, [TUFSigningKey().pem ?? ""], .invalidValue)
            _ = await take(world.folder.appending(path: "nothing"), old.keys, .notFound)

            let reporting = try await OldRepository(
                in: world.folder.appending(path: "report"),
                pins: OldRepository.pins([world.shown, world.announced], at: time, ofHost: #""mode": "report", "#),
                at: time)
            #expect(await take(reporting.folder.folder, reporting.keys, .notPublishable)?.found == "a mode")
            let other = TUFSigningKey()
            let shared = TUFSigningKey()
            let two = try await OldRepository(
                in: world.folder.appending(path: "two"), pins: pins, at: time,
                onlineKeys: TUFRoleKeys([other.publicKey, shared.publicKey], threshold: 1), and: other)
            // One of two is enough, also if the server gets the one that has signed nothing so far.
            let takeover = try await Takeover(
                repository: two.folder.folder, keys: [shared.pem ?? ""], password: nil, as: name, refresh: 3_600)
            #expect(takeover.apps.first?.keys.map(\.configured) == [shared.publicKey.id, shared.publicKey.id])

            let file = old.folder.published.appending(path: "metadata/2.root.json")
            let bytes = try String(contentsOf: file, encoding: .utf8)
            try Data(bytes.replacing("consistent_snapshot", with: "consistent_Snapshot").utf8).write(to: file)
            _ = await take(old.folder.folder, old.keys, .invalidSignature)

            let foreign = try await OldRepository(in: world.folder.appending(path: "foreign"), pins: pins, at: time)
            let first = foreign.folder.published.appending(path: "metadata/1.root.json")
            let root = try String(contentsOf: first, encoding: .utf8)
            try Data(root.replacing(#""scheme":""#, with: #""scheme":"ml-dsa-"#).utf8).write(to: first)
            let refusal = await take(foreign.folder.folder, foreign.keys, .unsupportedAlgorithm)
            #expect(refusal?.found.contains("ml-dsa-") == true && refusal?.remedy.contains("approver") == false)
        }
    }

    @Test(
        "Whose pins they are stays: a later change that names another application is refused, with those whom it locks out"
    )
    func application() async throws {
        try await World.run { world in
            let name = try AppName("moved")
            let old = try await OldRepository(
                in: world.folder.appending(path: "old"),
                pins: OldRepository.pins([world.shown, world.announced], at: world.clock.now), at: world.clock.now)
            let proposal = try await world.publisher.takeOver(
                old.folder.folder, keys: old.keys, as: name, anchors: world.root)
            try await publish(proposal.change, old, of: name, world)
            let published = try #require(try await world.publisher.published(name))
            let root = try await world.catalog.firstRoot(of: name)
            let next = try Content(
                app: name, hosts: published.hosts,
                formats: [ContentFormat(.repository, refresh: 21_600, root: root)], end: published.end)
            let report = try await world.propose(next).report
            #expect(report.refusal?.gate == .validation)
            #expect(report.refusal?.refusals.contains { $0.contains("application com.example.bank") } == true)
        }
    }

    @Test("A repository that was taken over and exchanged in the database is neither published nor exported")
    func attacked() async throws {
        try await World.run { world in
            let name = try AppName("moved")
            func repository(_ folder: String) async throws -> OldRepository {
                try await OldRepository(
                    in: world.folder.appending(path: folder),
                    pins: OldRepository.pins([world.shown, world.announced], at: world.clock.now), at: world.clock.now)
            }
            let (old, theirs) = (try await repository("old"), try await repository("theirs"))
            let proposal = try await world.publisher.takeOver(
                old.folder.folder, keys: old.keys, as: name, anchors: world.root)
            let other = try await Takeover(
                repository: theirs.folder.folder, keys: theirs.keys, password: nil, as: name, refresh: 3_600)
            let bytes = try RepositoryDraft(taken: #require(other.apps.first).repository).bytes
            let connection = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            _ = try connection.run(
                text: "UPDATE repository_draft SET octets = $1 WHERE app = 'moved'", [.bytes(bytes)])
            try await world.see(world.shown, of: name)
            var generator = SystemRandomNumberGenerator()
            let again = try await world.publisher.proposeAgain(
                proposal.change, proposer: nil, reason: "seen", by: "test", using: &generator)
            #expect(again.report.refusal?.gate == .validation, "\(again.report)")
            try await world.approve(again.change)
            await expectError(.gate) { try await world.publisher.publish(again.change) }
            #expect(world.publisher.live.current.documents.isEmpty)
            await expectError(.notPublishable) {
                try await world.publisher.exportRepository(
                    of: name, to: TUFRepositoryFolder(world.folder.appending(path: "export")))
            }
        }
    }

    @Test(
        "A signer program in the place of a key signs what was taken over; without either nothing is published",
        .needs(.verifyingSigner))
    func program() async throws {
        try await World.run { world in
            let name = try AppName("moved")
            let old = try await OldRepository(
                in: world.folder.appending(path: "old"),
                pins: OldRepository.pins([world.shown, world.announced], at: world.clock.now), at: world.clock.now)
            let proposal = try await world.publisher.takeOver(
                old.folder.folder, keys: [], as: name, anchors: world.root)
            #expect(
                proposal.report.refusal?.refusals.contains { $0.contains("no key that the root names for snapshot") }
                    == true)
            for purpose in [SealedKey.Purpose.snapshot, .timestamp] {
                let signer = try VerifyingSigner(
                    purpose.rawValue, in: world, key: old.keys.first, app: "\(name)")
                let text = try #require(old.online.publicKeyText)
                let (known, place) = (
                    try ApproverKey(printed: text).subjectPublicKeyInfo,
                    try SealedKeyTests.place("\(purpose.rawValue)-1", purpose, app: "\(name)")
                )
                // Another key than the repository was signed with is refused by its apps.
                let stranger = try ApproverKey(printed: #require(TUFSigningKey().publicKeyText)).subjectPublicKeyInfo
                await expectError(.constraint) {
                    _ = try await world.publisher.addSigner(
                        Catalog.Key(program: signer.program, at: place, publicKey: stranger), replacing: false,
                        by: "operator")
                }
                _ = try await world.publisher.addSigner(
                    Catalog.Key(program: signer.program, at: place, publicKey: known), replacing: false, by: "operator")
            }
            try await publish(proposal.change, old, of: name, world)
            let provider = SnapshotProvider(live: world.publisher.live, app: name, clock: world.clock)
            for app in try apps(old, world.clock) {
                let app = try moved(app, to: "https://pins.example.com/repo/moved", provider)
                #expect(try await app.letsIn(world.announced, trusting: world.root))
            }
        }
    }

    @Test("Every command of the manual that takes a repository over does what it is there for, and apps follow")
    func procedure() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeEmptyServer()
            let time = desk.clock.now
            let old = try await OldRepository(
                in: folder.appending(path: "site"), pins: OldRepository.pins([desk.shown, desk.next], at: time),
                at: time)
            let apps = try apps(old, desk.clock)
            for app in apps { #expect(try await app.letsIn(desk.shown, trusting: desk.authority)) }
            let file = folder.appending(path: "online.pem")
            try Data(old.keys.joined().utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            var (change, left) = ("", Set(["import", "host", "change", "approve", "app", "publish"]))
            for block in try Manual("docs/server/operating.md").blocks where block.mark == "taking over a repository" {
                for command in block.commands {
                    let text = command.text.replacing("/srv/pins", with: desk.data)
                        .replacing("CHANGE", with: change)
                    var words = try #require(SignerProgram.words(text))
                    guard words.removeFirst() == "holdfast-server" else {
                        try await RepositoryHolders.sign(
                            TUFRepositoryFolder(folder.appending(path: "first-pins")), with: old.holders.targets)
                        continue
                    }
                    left.remove(words[0])
                    if words[0] == "host" {
                        // No name leads to the host here.
                        try await desk.watch()
                        continue
                    }
                    // The keys of this desk have no password, and no person answers a question.
                    if let index = words.firstIndex(of: "--password-file") {
                        words.replaceSubrange(index...(index + 1), with: ["--yes"])
                    }
                    let output = try await desk.run(words)
                    if let line = output.split(separator: "\n").first(where: { $0.hasPrefix("change ") }) {
                        change = String(line.dropFirst("change ".count).prefix { $0 != " " })
                    }
                    if words[0] == "import" { #expect(output.contains("up to root 2"), "\(output)") }
                    if words[0] == "publish" { #expect(output.contains("published: generation 1"), "\(output)") }
                }
            }
            #expect(left.isEmpty, "\(left)")
            let served = FolderProvider(folder: URL(filePath: desk.data).appending(path: "public"))
            for app in apps {
                let app = try moved(app, to: "https://pins.example.com/repo/bank", served)
                #expect(try await app.letsIn(desk.next, trusting: desk.authority))
            }
        }
    }
}
