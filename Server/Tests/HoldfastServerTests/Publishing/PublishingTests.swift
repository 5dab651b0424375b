import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("Publishing, followed by real clients")
struct PublishingTests {
    @Test("A change that two people approved lets clients of every format in, with this certificate and the next")
    func published() async throws {
        try await World.run { world in
            let change = try await world.propose().change
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.approve(change, by: [.alice])
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            #expect(world.publisher.live.current.documents.isEmpty)
            try await world.approve(change, by: [.bob])
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            #expect(try await world.clientsThatGetIn(world.shown) == World.everybody)
            #expect(try await world.clientsThatGetIn(world.announced) == World.everybody)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            #expect(try await world.clientsThatGetIn(stranger) == [])
            try await world.everybodyFollows(lettingIn: [world.shown, world.announced], refusing: [stranger])
            await expectError(.outOfTurn) { try await world.publisher.publish(change) }
        }
    }

    @Test("The host changes its certificate when everybody has the next one, and no client is locked out")
    func rollover() async throws {
        try await World.run { world in
            try await world.publish()
            let stores = [try await world.certStore(), try await world.certStore(challenging: true)]
            for store in stores { _ = try await store.update(mode: .forced) }
            try await world.pass(World.month, showing: world.announced)
            for store in stores { #expect(try world.letsIn(world.announced, store.policy(for: World.host))) }
            let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publish()
            _ = try await world.publisher.renew()
            #expect(try await world.clientsThatGetIn(world.announced) == World.everybody)
            #expect(try await world.clientsThatGetIn(spare) == World.everybody)
            try await world.everybodyFollows(lettingIn: [world.announced, spare])
        }
    }

    @Test("A trust-server document is signed again in each round, and never beyond the end of its content")
    func rounds() async throws {
        try await World.run { world in
            try await world.publish(try await world.draft { $0.lifetime = 31 * 86_400 })
            let path = "trust/\(World.customer).json.signed"
            let first = try #require(world.publisher.live.current.document(at: path.utf8))
            try await world.pass(300)
            let round = try await world.publisher.renew()
            #expect(round.signed == [path, "trust/\(World.customer)-canary.json.signed"])
            #expect(round.problems == [])
            let second = try #require(world.publisher.live.current.document(at: path.utf8))
            #expect(second.bytes != first.bytes)
            #expect(second.end == first.end + 300)
            let store = try await world.trustServerStore()
            _ = try await store.update(mode: .forced)
            #expect(store.timestamp == world.clock.now)
            try await world.everybodyFollows()

            try await world.pass(31 * 86_400 - 400)
            _ = try await world.publisher.renew()
            let last = try #require(world.publisher.live.current.document(at: path.utf8))
            #expect(last.end == Story.now + 31 * 86_400)
            try await world.pass(200)
            let late = try await world.publisher.renew()
            #expect(late.signed == [])
            #expect(late.problems.count == 1)
            #expect(late.problems.first?.contains("nothing is signed for this content anymore") == true)
        }
    }

    @Test("A round that a publication overtakes signs nothing of the content before")
    func overtakenRound() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let next = try await world.approved().change
            try await world.pass(300)
            let engine = try world.interruptible()
            let other = try await world.another(engine)
            // After the round has signed the old content, before it is written down.
            engine.interrupt { _ = try await world.publisher.publish(next) }
            let round = try await other.renew()
            #expect(engine.wasInterrupted)
            #expect(round.signed == [] && round.problems == [], "\(round)")
            #expect(try await world.publisher.follow() == [])
            for path in ["trust/\(World.customer).json.signed", "trust/\(World.customer)-canary.json.signed"] {
                #expect(world.catalog.ledger.documents[.init(app: world.app, name: path)]?.version == 2, "\(path)")
            }
            // The round after it signs the new content.
            try await world.pass(300)
            #expect(try await other.renew().signed.count == 2)
            await engine.close()
        }
    }

    @Test("What approvers say while documents are being signed counts: a rejection, and other approvers in their place")
    func overtakenApprovals() async throws {
        try await World.run { world in
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(change)
            let rejected = try await world.propose(
                world.draft {
                    $0.formats = World.fewFormats
                    $0.lifetime = 170 * 86_400
                }
            ).change
            try await world.approve(rejected)
            let rejection = try await world.statement(.carol, .reject, of: rejected)
            let next = try [Approver.alice, .bob, .dave].sign(
                ApproverStatement(
                    after: try await world.catalog.approvers().head,
                    approvers: ApproverSet(
                        try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2)))
            let engine = try world.interruptible()
            let other = try await world.another(engine)
            engine.interrupt { try await world.catalog.add(rejection) }
            await expectError(.outOfTurn) { try await other.publish(rejected) }
            #expect(engine.wasInterrupted)
            engine.interrupt { try await world.catalog.append(next) }
            await expectError(.notApproved) { try await other.publish(change) }
            #expect(engine.wasInterrupted)
            #expect(try await world.publisher.follow() == [])
            #expect(world.catalog.ledger.generation(of: world.app) == 0)
            #expect(world.publisher.live.current.documents.isEmpty)
            // Their successors approve it, without another proposal.
            try await world.approve(change, by: [.alice, .dave])
            #expect(try await other.publish(change) == .published(generation: 1))
            try await world.everybodyFollows(
                lettingIn: [world.shown, world.announced], from: other, isThorough: false)
            await engine.close()
        }
    }

    @Test("Everything that is published is in the folder, byte for byte, and readable by a web server")
    func folder() async throws {
        try await World.run { world in
            try await world.publish()
            let snapshot = world.publisher.live.current
            #expect(snapshot.documents.keys.contains("lists/bank.json"))
            for (path, document) in snapshot.documents {
                let file = world.folder.appending(path: "public").appending(path: path)
                #expect(try Array(Data(contentsOf: file)) == document.bytes)
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode == 0o644)
                for folder in [file.deletingLastPathComponent(), world.folder.appending(path: "public")] {
                    let mode = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int
                    #expect(mode == 0o755)
                }
            }
            #expect(try await world.publisher.deliver() == Publisher.Delivery())
        }
    }

    @Test("What has arrived in the folder is written again if it is gone or changed, and nothing that is on its way")
    func mended() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let (publisher, place) = (world.publisher, world.folder.appending(path: "public"))
            let (list, trust) = ("lists/bank.json", "trust/\(World.customer).json.signed")
            #expect(try await publisher.mendFolder() == Publisher.Delivery())
            try FileManager.default.removeItem(at: place)
            let mended = try await publisher.mendFolder()
            #expect(Set(mended.confirmed) == Set(publisher.live.current.documents.keys) && mended.problems == [])
            for (path, document) in publisher.live.current.documents {
                #expect(try publisher.folder.read(path) == document.bytes, "\(path)")
            }
            try Data("theirs".utf8).write(to: place.appending(path: list))
            #expect(try await publisher.mendFolder().confirmed == [list])

            // The next round cannot be written.
            try FileManager.default.removeItem(at: place)
            try Data("in the way".utf8).write(to: place)
            try await world.pass(300)
            _ = try await publisher.renew()
            _ = try await publisher.deliver()
            #expect(try await !publisher.mendFolder().problems.isEmpty)
            try FileManager.default.removeItem(at: place)
            #expect(try await publisher.mendFolder().confirmed.contains(list))
            #expect(try publisher.folder.read(trust) == nil)
            try await world.pass(900)
            #expect(try await publisher.deliver().confirmed.contains(trust))
            #expect(try await publisher.mendFolder() == Publisher.Delivery())
        }
    }

    @Test("A folder that cannot be written holds up nobody: clients are answered, and it is written later")
    func unwritable() async throws {
        try await World.run { world in
            let place = world.folder.appending(path: "public")
            try Data("in the way".utf8).write(to: place)
            try await world.publish()
            #expect(try await world.clientsThatGetIn(world.shown) == World.everybody)
            try FileManager.default.removeItem(at: place)
            #expect(try await world.publisher.deliver().confirmed == [])
            try await world.pass(5)
            let delivery = try await world.publisher.deliver()
            #expect(Set(delivery.confirmed) == Set(world.publisher.live.current.documents.keys))
            #expect(delivery.problems == [])
        }
    }

    @Test("An older version never replaces a newer one in the folder, nor another document with its version")
    func versions() async throws {
        try await withFolder { folder in
            let place = PublicFolder(folder.appending(path: "public"), versions: folder.appending(path: "versions"))
            try place.write([1], at: "lists/a.json", version: 7)
            try place.write([1], at: "lists/a.json", version: 7)
            expectError(.outOfTurn) { try place.write([2], at: "lists/a.json", version: 6) }
            expectError(.constraint) { try place.write([2], at: "lists/a.json", version: 7) }
            try place.write([3], at: "lists/a.json", version: 8)
            #expect(try place.read("lists/a.json") == [3])
        }
    }

    @Test("The canary has a change for its time before everybody, unless its approvers said otherwise")
    func canary() async throws {
        try await World.run(canary: 86_400) { world in
            let change = try await world.propose().change
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + 86_400))
            let snapshot = world.publisher.live.current
            #expect(snapshot.document(at: "lists/bank.json".utf8) == nil)
            #expect(snapshot.apps.keys.map(\.description) == ["bank-canary"])
            let store = try await world.certStore(path: "lists/bank-canary.json")
            _ = try await store.update(mode: .forced)
            #expect(try world.letsIn(world.announced, store.policy(for: World.host)))
            try await world.everybodyFollows(lettingIn: [world.shown, world.announced], as: .canary)

            try await world.followCanary(for: 86_000)
            let error = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(error?.found.contains("the canary bank-canary has it until") == true)
            try await world.pass(500)
            // The approvals of the day before have ended.
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            _ = try await world.publisher.renew()
            for audience in ReleaseChannel.allCases { try await world.everybodyFollows(as: audience) }
            let emergency = try await world.publish(forcing: [.canary])
            #expect(try await world.catalog.change(emergency).canaryBegan == nil)
        }
    }

    @Test("To revert is a change: it needs approvals, and publishes old content under a new generation")
    func revert() async throws {
        try await World.run { world in
            try await world.publish()
            let spare = try world.root.leaf(names: [.dns(World.host)])
            try await world.catalog.announce(
                CertificateChain(spare.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publish()
            #expect(try await world.clientsThatGetIn(spare) == World.everybody)
            var generator = SystemRandomNumberGenerator()
            try await world.catalog.withdrawNext(on: world.catalogHost, of: world.app, by: "operator")
            try await world.catalog.announce(
                CertificateChain(world.announced.chain), from: world.now + World.month, on: world.catalogHost,
                of: world.app,
                by: "operator")
            let revert = try await world.publisher.proposeReverting(
                world.app, to: 1, proposer: nil, reason: "wrong certificate", by: "operator",
                using: &generator)
            #expect(revert.difference.lines.contains { $0.contains("removes certificate \(Digest(of: spare.der))") })
            await expectError(.notApproved) { try await world.publisher.publish(revert.change) }
            try await world.approve(revert.change)
            #expect(try await world.publisher.publish(revert.change) == .published(generation: 3))
            #expect(try await world.clientsThatGetIn(spare) == [])
            #expect(try await world.clientsThatGetIn(world.shown) == World.everybody)
            try await world.everybodyFollows(lettingIn: [world.shown], refusing: [spare])
        }
    }

    @Test("Without the secret nothing is signed, and what is published is served on")
    func noSecret() async throws {
        try await World.run { world in
            try await world.publish()
            let blind = Publisher(world.catalog, folder: world.publisher.folder, secret: nil)
            let snapshot = try await blind.refresh()
            #expect(snapshot.documents == world.publisher.live.current.documents)
            #expect(snapshot.apps[world.app]?.key == nil)
            let publicKey = try await world.publicKey()
            #expect(snapshot.apps[world.app]?.publicKey == publicKey)
            let change = try await world.propose().change
            try await world.approve(change)
            await expectError(.secretFile) { try await blind.publish(change) }
            #expect(try await blind.renew().problems.count == 1)
        }
    }

    @Test("Two apps cannot publish under one path")
    func paths() async throws {
        try await World.run { world in
            try await world.publish()
            let other = try AppName("bank2")
            try await world.catalog.addApp(
                other, displayName: "Other",
                settings: AppSettings(canary: 0, anchors: [world.root.root], builds: []), by: "operator")
            try await world.catalog.set(world.catalogHost, of: other, by: "operator")
            try await world.see(world.shown, of: other)
            let trust = try TrustServerKey(customer: World.customer, kind: .p256, at: world.clock.now)
            let place = try SealedKeyTests.place("trust-2", .trustServer, app: "bank2")
            let sealed = try SealedKey(sealing: trust.privateKeyPEM, at: place, with: World.secret())
            try await world.catalog.add(
                Catalog.Key(sealed: sealed, certificate: Array(trust.certificate)), by: "operator")
            let formats = World.formats.filter { $0.kind == .trustServer }
            let content = try await world.catalog.draft(
                of: other, Catalog.DraftOptions(formats: formats, includesSeen: true))
            let change = try await world.propose(content, forcing: [.lint]).change
            try await world.approve(change)
            let error = await expectError(.notPublishable) { try await world.publisher.publish(change) }
            #expect(error?.found == "one of bank")
            #expect(world.catalog.ledger.generation(of: other) == 0)
        }
    }
}
