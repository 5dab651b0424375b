import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("Renewing repositories")
struct RepositoryRenewalTests {
    private static let timestamp = "repo/bank/metadata/timestamp.json"
    private static let day: Int64 = 86_400

    private func version(_ world: World) throws -> Int64 {
        let document = try #require(world.publisher.live.current.document(at: Self.timestamp.utf8))
        return try TUFMetadataFile(Data(document.bytes)).version
    }

    @Test("The timestamp is signed anew once a day, for apps that go on for months without their holders")
    func daily() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders())
            let apps = try [true, false].map { try world.repositoryApp(isBundle: $0) }
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            #expect(try version(world) == 1)
            try await world.pass(Self.day - 1)
            #expect(try await world.publisher.renew().signed == [])
            try await world.pass(1)
            let round = try await world.publisher.renew()
            #expect(round.signed == [Self.timestamp, "repo/bank/bundle.json"] && round.problems == [])
            try await world.everybodyFollows()
            #expect(try version(world) == 2)
            #expect(try await world.publisher.renew().signed == [])
            // Nothing is renewed for twelve days, then the snapshot is about to end as well.
            for days in [12, 77] {
                try await world.pass(Int64(days) * Self.day)
                #expect(try await world.publisher.renew().problems == [])
                for app in apps { #expect(try await app.letsIn(world.announced, trusting: world.root), "\(days)") }
                _ = try await world.followed()
            }
            let path = "repo/bank/metadata/2.snapshot.json"
            #expect(world.publisher.live.current.document(at: path.utf8) != nil)
        }
    }

    @Test("A renewal that a publication overtakes signs nothing of the content before")
    func overtakenByPublication() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            try await world.pass(Self.day)
            let change = try await world.approvedRepository(holders) { $0.lifetime = 170 * Self.day }
            try await world.publisher.sign(change, holders, in: world.folder)
            let engine = try world.interruptible()
            let other = try await world.another(engine)
            engine.interrupt { _ = try await world.publisher.publish(change) }
            let round = try await other.renew()
            #expect(engine.wasInterrupted && world.catalog.ledger.generation(of: world.app) == 2)
            #expect(round.signed == [] && round.problems == [], "\(round)")
            await engine.close()
        }
    }

    @Test("Of two renewals at the same time one is written: no version of a timestamp is given twice")
    func overtakenByRenewal() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders())
            try await world.pass(Self.day)
            let engine = try world.interruptible()
            let other = try await world.another(engine)
            engine.interrupt {
                let signed = try await world.publisher.renew().signed
                #expect(signed.contains(Self.timestamp))
            }
            let round = try await other.renew()
            #expect(engine.wasInterrupted)
            #expect(round.signed == [] && round.problems == [], "\(round)")
            #expect(world.catalog.ledger.documents[.init(app: world.app, name: Self.timestamp)]?.version == 2)
            #expect(try version(world) == 2)
            // There is nothing left to do.
            let next = try await other.renew()
            #expect(next.signed == [] && next.problems == [], "\(next)")
            await engine.close()
        }
    }

    @Test("Nothing is signed beyond the end of what was approved, neither by the timestamp nor after it")
    func end() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let change = try await world.approvedRepository(holders) { $0.lifetime = 31 * Self.day }
            try await world.publisher.sign(change, holders, in: world.folder)
            try await world.publisher.publish(change)
            try await world.everybodyFollows()
            let end = Date(timeIntervalSince1970: Double(Story.now + 31 * Self.day))
            for _ in 0..<3 {
                try await world.pass(10 * Self.day)
                #expect(try await world.publisher.renew().problems == [])
                let document = try #require(world.publisher.live.current.document(at: Self.timestamp.utf8))
                #expect(try TUFMetadataFile(Data(document.bytes)).end <= end)
            }
            // After thirty days a later timestamp would end no later.
            #expect(try version(world) == 3)
            try await world.pass(2 * Self.day)
            let round = try await world.publisher.renew()
            #expect(round.signed == [] && round.problems.contains { $0.contains("Propose a change with a later end") })
        }
    }

    @Test("A draft whose row is damaged holds up nothing that is signed again, of its app and of others")
    func damagedDraft() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders, beside: World.fewFormats)
            let next = try await world.approvedRepository(holders, beside: World.fewFormats) {
                $0.lifetime = 170 * Self.day
            }
            try await world.publisher.draftRepository(next, by: "operator")
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE repository_draft SET octets = $1", [.bytes([1])])
            }
            try await world.pass(Self.day)
            let round = try await world.publisher.renew()
            #expect(
                Set(round.signed).isSuperset(of: [Self.timestamp, "trust/\(World.customer).json.signed"]), "\(round)")
            #expect(round.problems == [])
            #expect(try await world.repositoryApp(isBundle: true).letsIn(world.shown, trusting: world.root))
            let refusal = try await world.publisher.rehearse(next).refusal
            #expect(refusal?.gate == .validation, "\(refusal as Any)")
            // It is prepared again.
            try await world.publisher.sign(next, holders, in: world.folder)
            #expect(try await world.publisher.rehearse(next).refusal == nil)
        }
    }

    @Test("A second targets version takes the place of the first for apps that have it, and nobody follows it back")
    func second() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let apps = try [true, false].map { try world.repositoryApp(isBundle: $0) }
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            let first = world.publisher.live.current
            try await world.pass(3_600)
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.publishRepository(holders)
            for app in apps {
                #expect(try await app.letsIn(next, trusting: world.root))
                #expect(try await app.letsIn(world.shown, trusting: world.root))
            }
            // A client that requested the files of the first before is answered.
            for path in ["1.targets.json", "1.snapshot.json", "1.root.json"].map({ "repo/bank/metadata/\($0)" }) {
                #expect(
                    world.publisher.live.current.document(at: path.utf8)?.bytes
                        == first.document(at: path.utf8)?.bytes, "\(path)")
            }
            // A server serves the documents from before.
            world.publisher.live.replace(
                with: PublishedSnapshot(
                    sequence: world.publisher.live.current.sequence, documents: first.documents, apps: [:]))
            for app in apps {
                let repository = try app.started()
                let update = try? await repository.update(mode: .forced)
                #expect(update?.error != nil || update == nil)
                #expect(try app.letsIn(next, repository, trusting: world.root))
            }
        }
    }

    @Test("A next root with other keys of targets is published with the next change, and the oldest app follows")
    func rotated() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let old = try world.repositoryApp(isBundle: false)
            #expect(try await old.letsIn(world.shown, trusting: world.root))
            let successor = TUFSigningKey()
            let oldID = holders.targets[0].publicKey.id
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder) { folder in
                var state = try await folder.state()
                try state.change(.targets, adding: [successor.publicKey], removing: [oldID], at: world.clock.now)
                try await folder.writeDrafts(state)
            }
            let change = try await world.approvedRepository(holders) { $0.lifetime = 170 * Self.day }
            try await world.publisher.draftRepository(change, by: "operator")
            // The key that goes no longer counts.
            try await world.publisher.pass(world.app, to: [holders.targets[1]], in: world.folder)
            await expectError(.gate) { try await world.publisher.publish(change) }
            // Clients that do not know the next root yet want the old keys between two writes.
            try await world.publisher.pass(world.app, to: [successor, holders.targets[0]], in: world.folder)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            try await world.everybodyFollows()
            let root = "repo/bank/metadata/2.root.json"
            #expect(world.publisher.live.current.document(at: root.utf8) != nil)
            for app in [old, try world.repositoryApp(isBundle: true), try world.repositoryApp(isBundle: false)] {
                #expect(try await app.letsIn(world.shown, trusting: world.root))
            }
            try await world.pass(Self.day)
            #expect(try await world.publisher.renew().problems == [])
            try await world.everybodyFollows()
        }
    }
}
