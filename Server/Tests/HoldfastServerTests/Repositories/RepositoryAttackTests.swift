import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// An attacker can write to the database, and has neither an offline key of the repository nor the file with the head
/// of the audit.
@Suite("Attacks on the repository in the database")
struct RepositoryAttackTests {
    /// A published repository, and another of the attacker's with the server's own online keys in its root.
    private struct Stage {
        let world: World
        let malicious: TestCertificate
        /// The documents that the attacker wants to be served, by path.
        let wanted: [String: [UInt8]]
        /// The first served documents.
        let older: [String: [UInt8]]
        let app: RepositoryApp

        init(_ world: World, _ holders: RepositoryHolders) async throws {
            self.world = world
            try await world.publishRepository(holders)
            older = world.publisher.live.current.documents.mapValues(\.bytes)
            app = try world.repositoryApp(isBundle: false)
            try await world.pass(86_400)
            _ = try await world.publisher.renew()
            malicious = try world.root.leaf(names: [.dns(World.host)])
            wanted = try await Self.repository(of: malicious, world)
            #expect(try await app.letsIn(world.shown, trusting: world.root))
        }

        /// A repository with the attacker's certificate, and offline keys of theirs.
        private static func repository(
            of malicious: TestCertificate, _ world: World
        ) async throws -> [String: [UInt8]] {
            let mallory = RepositoryHolders()
            let machine = TUFSigningKey()
            let folder = TUFRepositoryFolder(world.folder.appending(path: "mallory"))
            var state = try TUFRepositoryState(
                roles: [
                    .root: mallory.rootKeys, .targets: mallory.targetsKeys,
                    .snapshot: TUFRoleKeys([machine.publicKey]), .timestamp: TUFRoleKeys([machine.publicKey]),
                ], at: world.clock.now)
            let published = try #require(try await world.publisher.published(world.app))
            let content = try Content(
                app: world.app,
                hosts: [
                    ContentHost(
                        name: World.host,
                        keys: [
                            .init(pin: Digest(of: malicious.subjectPublicKeyInfo)),
                            .init(pin: Digest(of: world.shown.subjectPublicKeyInfo), state: .backup),
                        ])
                ], formats: published.formats, end: published.end)
            let pins = try PinFileMaker(content: content, format: #require(published.repository))
                .pinFile(at: world.now)
            try state.prepare(pins: Data(pins), at: world.clock.now)
            for key in [mallory.root] + mallory.targets { _ = try state.sign(by: key) }
            try await folder.write(
                try await TUFPublication.make(of: state, in: folder, onlineKeys: [machine], at: world.clock.now))
            var files: [String: [UInt8]] = [:]
            for name in ["metadata", "targets"] {
                for file in folder.names(in: "public/\(name)") {
                    files["repo/bank/\(name)/\(file)"] = try folder.data(at: "public/\(name)/\(file)", atMost: 1 << 20)
                        .map { Array($0) }
                }
            }
            files["repo/bank/bundle.json"] = try folder.data(at: "public/bundle.json", atMost: 1 << 20).map {
                Array($0)
            }
            return files
        }

        /// Whether apps that have followed the repository, and new ones, keep the attacker out of what a server serves.
        func isClean(_ publisher: Publisher) async throws -> Bool {
            let served = publisher.live.current.documents
            let pin = Base64.encode(Digest(of: try malicious.subjectPublicKeyInfo).bytes)
            guard !served.values.contains(where: { Data($0.bytes).range(of: Data(pin.utf8)) != nil }) else {
                return false
            }
            let provider = SnapshotProvider(live: publisher.live, app: world.app, clock: world.clock)
            let known = try app.with(provider, keepingWhatItHas: true)
            let new = try app.with(provider, keepingWhatItHas: false)
            for client in [known, new] {
                let repository = try client.started()
                _ = try? await repository.update(mode: .forced)
                if try client.letsIn(malicious, repository, trusting: world.root) { return false }
            }
            // An app that followed it before still does, and not back.
            let repository = try known.started()
            return try known.letsIn(world.shown, repository, trusting: world.root)
        }
    }

    /// A copy of the server's folder, with a server that runs on it.
    private struct Copy {
        let folder: URL
        let engine: SQLiteEngine
        let publisher: Publisher

        init(of stage: Stage, _ name: String) async throws {
            (folder, engine) = try stage.world.copy(name)
            publisher = try await stage.world.publisher(on: engine, in: folder)
            try await publisher.follow()
        }

        /// Rewrites rows, and has the server work, as it was and from the beginning.
        /// - Returns: what it said.
        func attack(
            _ stage: Stage, _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Void
        ) async throws -> [String] {
            try await engine.write(body)
            var said: [String] = []
            for publisher in [publisher, try? await stage.world.publisher(on: engine, in: folder)].compactMap(\.self) {
                do {
                    said += try await publisher.renew().problems
                    said += try await publisher.follow()
                } catch {
                    said.append("\(error)")
                }
                #expect(try await stage.isClean(publisher), "\(folder.lastPathComponent)")
                // The folder has nothing else either.
                for path in publisher.folder.paths() {
                    #expect(try publisher.folder.read(path) != stage.wanted[path], "\(path)")
                }
            }
            await engine.close()
            return said
        }
    }

    @Test(
        "A database that was rewritten to hold other targets, an older snapshot or another root leads no app anywhere")
    func rewritten() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            let stage = try await Stage(world, holders)
            let (wanted, older) = (stage.wanted, stage.older)
            @Sendable func put(
                _ bytes: [UInt8], at path: String, _ session: any StorageSession
            ) throws(ServerError) {
                _ = try session.run(
                    "UPDATE document SET octets = $2, digest = $3 WHERE format = $1",
                    [.text(path), .bytes(bytes), .bytes(Digest(of: bytes).bytes)])
            }
            let roots = wanted.filter { $0.key.hasSuffix("root.json") }
            let targets = wanted.filter { $0.key.contains("targets") }
            let online = older.filter { $0.key.hasSuffix("timestamp.json") || $0.key.hasSuffix("bundle.json") }
            #expect(roots.count == 1 && targets.count == 2 && online.count == 2)
            for (name, files) in [("root", roots), ("targets", targets), ("older", online), ("all", wanted)] {
                let copy = try await Copy(of: stage, name)
                let said = try await copy.attack(stage) { session throws(ServerError) in
                    for (path, bytes) in files { try put(bytes, at: path, session) }
                }
                #expect(said.contains { $0.contains("brokenChain") }, "\(name): \(said)")
            }
            // As new versions, which no client has requested before.
            let copy = try await Copy(of: stage, "new rows")
            _ = try await copy.attack(stage) { session throws(ServerError) in
                for (path, bytes) in wanted {
                    _ = try session.run(
                        """
                        INSERT INTO document (app, format, version, generation, digest, octets, signed_at, ends_at) \
                        VALUES ('bank', $1, 99, 1, $2, $3, $4, $5)
                        """,
                        [
                            .text(path), .bytes(Digest(of: bytes).bytes), .bytes(bytes), .integer(Story.now),
                            .integer(Story.now + 10_000_000),
                        ])
                }
            }
            // The control: approved by two, and signed by the holders, the same certificate gets in.
            try await world.catalog.announce(
                CertificateChain(stage.malicious.chain), from: world.now + World.month, on: world.catalogHost,
                of: world.app,
                by: "operator")
            try await world.see(world.shown)
            try await world.publishRepository(holders)
            #expect(try await !stage.isClean(world.publisher))
            #expect(try await stage.app.letsIn(stage.malicious, trusting: world.root))
        }
    }

    @Test("A draft that was written into the database is neither published nor exported")
    func draft() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            let stage = try await Stage(world, holders)
            let change = try await world.approvedRepository(holders) { $0.lifetime = 170 * 86_400 }
            try await world.publisher.sign(change, holders, in: world.folder)
            let files = try await world.catalog.repository(of: world.app)
            var draft = RepositoryDraft(try await files.state())
            let good = draft.bytes
            draft.pins = stage.wanted.first { $0.key.hasSuffix("pins.json") }?.value
            draft.targets = stage.wanted["repo/bank/metadata/1.targets.json"]
            let bad = draft.bytes
            @Sendable func write(_ bytes: [UInt8]) async throws {
                try await world.engine.write { session throws(ServerError) in
                    _ = try session.run("UPDATE repository_draft SET octets = $1", [.bytes(bytes)])
                }
            }
            try await write(bad)
            await expectError(.gate) { try await world.publisher.publish(change) }
            await expectError(.notPublishable) {
                try await world.publisher.exportRepository(
                    of: world.app, to: TUFRepositoryFolder(world.folder.appending(path: "bad")))
            }
            #expect(try await stage.isClean(world.publisher))
            // The control: what the audit has is published.
            try await write(good)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            try await world.everybodyFollows()
        }
    }
}
