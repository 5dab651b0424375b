import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Restoring a backup")
struct RestoringTests {
    private static let trust = "trust/\(World.customer).json.signed"

    /// Clients of a list, of challenges and of a trust server, which keep what they have when another server answers.
    struct Clients {
        private let storages = [InMemoryDataStore(), InMemoryDataStore(), InMemoryDataStore()]

        /// All of them ask a server, and must be content with the answer.
        /// - Parameter isHeld: whether the server answers no challenges.
        /// - Returns: the timestamp of the trust server's document.
        @discardableResult
        func ask(
            _ world: World, letIn certificates: [TestCertificate], isHeld: Bool = false
        ) async throws -> Date {
            for (index, storage) in storages.prefix(2).enumerated() {
                let store = try await world.certStore(challenging: index == 1, storage: storage)
                let update = try? await store.update(mode: .forced)
                #expect((update?.error == nil && update != nil) == !(isHeld && index == 1), "CertStore \(index)")
                for certificate in certificates {
                    #expect(try world.letsIn(certificate, store.policy(for: World.host)), "CertStore \(index)")
                }
            }
            let store = try await world.trustServerStore(storage: storages[2])
            _ = try await store.update(mode: .forced)
            for certificate in certificates {
                #expect(try world.letsIn(certificate, store.policy(for: World.host, pinning: .certificate)))
                #expect(try world.letsIn(certificate, store.policy(for: World.host, pinning: .publicKey)))
            }
            return try #require(store.timestamp)
        }
    }

    @Test("A backup of this moment is restored, and the server goes on: everybody gets in, and rounds are signed")
    func current() async throws {
        try await World.settled { world in
            try await world.publish()
            let served = world.publisher.live.current
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            try await world.restored(backup, known: world.catalog.ledger.chain.head) { restored, report in
                #expect(report.adopted == [] && report.withheld == [] && report.unknown == [] && report.held == [])
                #expect(report.lost == 0)
                #expect(
                    restored.publisher.live.current.documents.mapValues(\.bytes)
                        == served.documents.mapValues(\.bytes))
                #expect(try await restored.clientsThatGetIn(world.shown) == World.everybody)
                // The folder is there again, byte for byte.
                for (path, document) in served.documents {
                    #expect(try restored.publisher.folder.read(path) == document.bytes, "\(path)")
                }
                try await restored.pass(300)
                let round = try await restored.publisher.renew()
                #expect(round.signed.contains(Self.trust) && round.problems == [])
                #expect(try await restored.clientsThatGetIn(world.announced) == World.everybody)
                let findings = try await restored.publisher.examine()
                #expect(!findings.contains { $0.isFault }, "\(findings)")
            }
        }
    }

    @Test(
        "What is public and newer stays, nothing older is signed, and clients of the newer state take what comes next")
    func older() async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            // A certificate that the backup does not know, and another generation with it.
            let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.pass(600)
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publish()
            _ = try await world.publisher.renew()
            let clients = Clients()
            let before = try await clients.ask(world, letIn: [world.shown, spare])
            let last = world.catalog.ledger
            let served = world.publisher.live.current
            try await world.pass(600)
            let paths = ["lists/bank-canary.json", "lists/bank.json", "trust/gcx-canary.json.signed", Self.trust]
            try await world.restored(backup, known: last.chain.head) { restored, report in
                #expect(report.adopted.sorted() == paths && report.held == [world.app])
                #expect(report.withheld.sorted() == ["pins/bank-canary.pins.json", "pins/bank.pins.json"])
                #expect((report.lost ?? 0) > 2)
                // Nothing is green while an app signs nothing.
                let standing = try await restored.publisher.standing(of: world.app)
                #expect(!standing.isGood && standing.held == [Publisher.heldByRestoring], "\(standing.held)")
                let needs = try await PageDesk(restored).overview().needs
                #expect(needs.contains { $0.kind == .held && $0.words.contains("publish it") }, "\(needs)")
                let now = restored.publisher.live.current
                for path in paths { #expect(now.documents[path]?.bytes == served.documents[path]?.bytes, "\(path)") }
                // Documents without a signature are not believed, and not overwritten.
                #expect(now.documents["pins/bank.pins.json"] == nil)
                // Nothing is signed that is older than what clients have: neither rounds nor answers.
                let round = try await restored.publisher.renew()
                #expect(round.signed == [] && round.problems.count == 1)
                #expect(now.apps[world.app] != nil && now.apps[world.app]?.key == nil)
                #expect(try await restored.publisher.examine().contains { $0.isFault && $0.words.contains("bank") })
                // Versions and generations go on above all that was public.
                for (name, version) in last.documents {
                    #expect(restored.catalog.ledger.nextVersion(of: name) > version.version, "\(name.name)")
                }
                #expect(restored.catalog.ledger.generation(of: world.app) > last.generation(of: world.app))
                // Do not install a certificate that clients of unknown documents might refuse.
                let digest = Digest(of: world.announced.der)
                let ready = try await restored.publisher.readiness(
                    of: digest, on: world.catalogHost, of: world.app)
                #expect(!ready.isReady && ready.until == nil && ready.words.contains("a backup was restored"))
                // A backup of this state is restored as well.
                let (_, faults) = try await ServerFolder.check(world.source(backup), clock: world.clock)
                #expect(faults == [])

                // The owner announces it once more, people approve, and all clients follow.
                try await restored.catalog.withdrawNext(on: restored.catalogHost, of: world.app, by: "operator")
                try await restored.catalog.announce(
                    CertificateChain(spare.chain), from: world.now + World.month, on: restored.catalogHost,
                    of: world.app,
                    by: "operator")
                try await restored.publish()
                #expect(try await clients.ask(restored, letIn: [world.shown, spare]) > before)
                _ = try await restored.publisher.renew()
                #expect(try await restored.clientsThatGetIn(spare) == World.everybody)
                #expect(restored.publisher.live.current.documents["pins/bank.pins.json"] != nil)
                #expect(try await !restored.publisher.examine().contains { $0.isFault })
            }
        }
    }

    @Test("The public address and several places are read, and what cannot be read stops it before anything is signed")
    func places() async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            try await world.pass(600)
            try await world.publish()
            let newest = world.publisher.live.current
            let url = try #require(URL(string: "https://pins.example.com/"))
            let site = FolderProvider(folder: world.folder.appending(path: "public"))
            let address = PublicPlace.address(url, site)
            try await world.restored(backup, places: [address]) { restored, report in
                #expect(report.adopted.contains("lists/bank.json") && report.held == [world.app])
                let list = try #require(newest.documents["lists/bank.json"])
                #expect(restored.publisher.live.current.documents["lists/bank.json"]?.bytes == list.bytes)
                #expect(try restored.publisher.folder.read("lists/bank.json") == list.bytes)
            }
            // Nothing is public anywhere: the server cannot tell that nothing was published after the backup.
            try await world.restored(backup, places: []) { restored, report in
                #expect(report.held == [world.app] && report.adopted == [])
                let round = try await restored.publisher.renew()
                #expect(round.signed == [])
            }
            // It does not answer: the server cannot be started, and run again it can.
            try await withFolder { parent in
                let other = ServerFolder(parent.appending(path: "data"))
                var generator = SystemRandomNumberGenerator()
                var rules = ServerFolder.RestoringRules(places: [
                    .address(
                        url, FolderProvider(folder: world.folder, failure: RemoteDataError(status: 502)))
                ])
                await expectError(.file) {
                    try await other.restore(
                        world.source(backup), rules: rules, clock: world.clock, using: &generator, by: "operator")
                }
                await expectError(.restoring) { try await other.open(clock: world.clock) }
                #expect(!FileManager.default.fileExists(atPath: other.url.appending(path: "public").path))
                rules.places = [address]
                let report = try await other.restore(
                    world.source(backup), rules: rules, clock: world.clock, using: &generator, by: "operator")
                #expect(report.held == [world.app])
                let open = try await other.open(clock: world.clock)
                await open.engine.close()
                // A server is never overwritten.
                await expectError(.constraint) {
                    try await other.restore(
                        world.source(backup), rules: rules, clock: world.clock, using: &generator, by: "operator")
                }
            }
        }
    }

    @Test("What no key of the app signed stops it until somebody says otherwise, and is never adopted")
    func foreign() async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let path = "lists/bank.json"
            let file = world.folder.appending(path: "public").appending(path: path)
            let content = try await world.draft()
            let forged = try Array(PinListDraft(content.entries(at: world.now)).signed(by: SigningKey()))
            try Data(forged).write(to: file)
            try Data("x".utf8).write(to: world.folder.appending(path: "public/lists/other.json"))
            let error = await expectError(.invalidSignature) { try await world.restored(backup) { _, _ in } }
            #expect(error?.subject?.contains(path) == true)
            try await world.restored(backup, disregarding: [path]) { restored, report in
                #expect(report.withheld == [path] && report.held == [world.app])
                #expect(report.unknown == ["lists/other.json"])
                #expect(restored.publisher.live.current.documents[path] == nil)
                try await restored.publish()
                #expect(restored.publisher.live.current.documents[path] != nil)
                #expect(try await restored.clientsThatGetIn(world.shown) == World.everybody)
            }
        }
    }

    @Test("Where two places have different newer lists, nobody can tell which counts, and nothing is restored")
    func differing() async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let first = world.outside.appending(path: "first-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: first) }
            try await world.pass(600)
            try await world.publish()
            try FileManager.default.copyItem(at: world.folder.appending(path: "public"), to: first)
            try await world.pass(600)
            try await world.publish()
            let second = PublicPlace.folder(world.folder.appending(path: "public"))
            let error = await expectError(.constraint) {
                try await world.restored(backup, places: [.folder(first), second]) { _, _ in }
            }
            #expect(error?.subject?.contains("lists/") == true)
            try await world.restored(backup, places: [second]) { _, report in #expect(report.held == [world.app]) }
        }
    }

    @Test("An older document that somebody put back is not taken for a newer one")
    func rolledBack() async throws {
        try await World.settled { world in
            try await world.publish()
            let first = world.publisher.live.current
            try await world.pass(600)
            try await world.publish()
            let newest = world.publisher.live.current
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            for path in ["lists/bank.json", Self.trust] {
                let old = try #require(first.documents[path]).bytes
                try Data(old).write(to: world.folder.appending(path: "public").appending(path: path))
            }
            try await world.restored(backup) { restored, report in
                #expect(report.adopted == [])
                for path in ["lists/bank.json", Self.trust] {
                    let there = try restored.publisher.folder.read(path)
                    #expect(there == newest.documents[path]?.bytes)
                }
            }
        }
    }

    @Test("Changes that were open are over, with the approvals that they had, and tokens are gone")
    func lapsed() async throws {
        try await World.settled { world in
            try await world.publish()
            let change = try await world.propose().change
            try await world.approve(change)
            let kept = try await world.statement(.carol, of: change)
            var generator = SystemRandomNumberGenerator()
            let grant = try TokenGrant(name: "t", app: nil, scope: .administer, end: world.now + 86_400)
            let token = try await world.catalog.add(grant, by: "operator", using: &generator)
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            // Rejected after the backup, which knows nothing of it.
            try await world.catalog.add(try await world.statement(.carol, .reject, of: change))
            try await world.restored(backup, known: world.catalog.ledger.chain.head) { restored, report in
                #expect(report.lapsed == [change] && report.tokens == 1)
                await expectError(.outOfTurn) { try await restored.publisher.publish(change) }
                await expectError(.outOfTurn) { try await restored.catalog.add(kept) }
                let before = try await world.catalog.grant(of: token)
                let after = try await restored.catalog.grant(of: token)
                let tokens = try await restored.catalog.tokens()
                #expect(before != nil && after == nil && tokens.isEmpty)
            }
        }
    }

    @Test("A head from elsewhere that the backup contradicts stops it; one that it has says that nothing is lost")
    func heads() async throws {
        try await World.settled { world in
            try await world.publish()
            let head = world.catalog.ledger.chain.head
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            let other = AuditHead(count: head.count - 1, digest: Digest(of: [1]))
            await expectError(.brokenChain) { try await world.restored(backup, known: other) { _, _ in } }
            // Nothing public is left, and nothing was lost either.
            try await world.restored(backup, places: [], known: head) { _, report in
                #expect(report.lost == 0 && report.held == [])
            }
            let longer = AuditHead(count: head.count + 5, digest: Digest(of: [1]))
            try await world.restored(backup, places: [], known: longer) { _, report in
                #expect(report.lost == 5 && report.held == [world.app])
            }
        }
    }

    @Test(
        "Killed after any step, the server does not start, and run again it is restored as if nothing had happened",
        arguments: ServerFolder.RestoringStep.allCases)
    func killed(_ step: ServerFolder.RestoringStep) async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            try await withFolder { parent in
                let other = ServerFolder(parent.appending(path: "data"))
                let rules = ServerFolder.RestoringRules(places: [.folder(world.folder.appending(path: "public"))])
                var generator = SystemRandomNumberGenerator()
                let killed = ServerError(.database, expected: "", found: "killed")
                await expectError(.database) {
                    try await other.restore(
                        world.source(backup), rules: rules, clock: world.clock, using: &generator, by: "operator"
                    ) { reached throws(ServerError) in if reached == step { throw killed } }
                }
                if step != .completed {
                    await expectError(.restoring) { try await other.open(clock: world.clock) }
                    _ = try await other.restore(
                        world.source(backup), rules: rules, clock: world.clock, using: &generator, by: "operator")
                }
                let open = try await other.open(clock: world.clock)
                _ = try await open.publisher.follow()
                let restored = World(world, as: open, in: other.url)
                let entries = try await open.catalog.look { session, _ throws(ServerError) in
                    try session.run("SELECT entry FROM audit").map { row throws(ServerError) in
                        try AuditEntry(row.bytes(0))
                    }
                }
                #expect(entries.count { $0.event == .restored && $0.facts["what"] == "backup" } == 1)
                #expect(try await restored.clientsThatGetIn(world.shown) == World.everybody)
                await open.engine.close()
            }
        }
    }

    @Test("A clock before the last public document, and a backup with a damaged database, restore nothing")
    func refused() async throws {
        try await World.settled { world in
            try await world.publish()
            let backup = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: backup) }
            try await world.pass(600)
            _ = try await world.publisher.renew()
            world.clock.advance(by: .seconds(-500))
            await expectError(.clock) { try await world.restored(backup) { _, _ in } }
            world.clock.advance(by: .seconds(600))
            let (manifest, faults) = try await ServerFolder.check(world.source(backup), clock: world.clock)
            #expect(faults == [] && manifest.created == Story.now)
            // An attacker wrote to the database before the backup.
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE signing_key SET sealed = zeroblob(40) WHERE id = 'trust-1'")
            }
            let damaged = try await world.backUp()
            defer { try? FileManager.default.removeItem(at: damaged) }
            let found = try await ServerFolder.check(world.source(damaged), clock: world.clock).faults
            #expect(found.contains { $0.contains("trust-1") }, "\(found)")
            await expectError(.damagedDatabase) { try await world.restored(damaged) { _, _ in } }
        }
    }
}
