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

@Suite("The server's keys of a repository, and roots that are published by themselves")
struct RepositoryKeyTests {
    private static let day: Int64 = 86_400
    private static let nextRoot = "repo/bank/metadata/2.root.json"

    private func replace(_ world: World) async throws -> Publisher.RepositoryProgress {
        var generator = SystemRandomNumberGenerator()
        return try await world.publisher.replaceOnlineKeys(of: world.app, by: "operator", using: &generator)
    }

    private func keys(_ world: World) async throws -> [SealedKey] {
        try await world.catalog.look { session, _ throws(ServerError) in
            try Catalog.sealedKeys(Story.server, session)
        }.filter { $0.place.purpose.role != nil }
    }

    /// Number of keys that signed the served timestamp.
    private func timestampKeys(_ world: World) throws -> Int {
        let path = "repo/bank/metadata/timestamp.json"
        let bytes = try #require(world.publisher.live.current.document(at: path.utf8)?.bytes)
        let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
        return try #require(object["signatures"] as? [Any]).count
    }

    @Test(
        "Keys that somebody may have are replaced by a root of its holders: no app is refused, and the old ones are gone"
    )
    func replaced() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            await expectError(.notFound) { try await replace(world) }
            try await world.publisher.begin(world.app, holders, in: world.folder)
            await expectError(.outOfTurn) { try await replace(world) }
            try await world.publishRepository(holders)
            let apps = try [true, false].map { try world.repositoryApp(isBundle: $0) }
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            let old = try await keys(world)
            #expect(old.count == 2)

            let prepared = try await replace(world)
            #expect(!prepared.isEnough)
            for role in ["snapshot", "timestamp"] {
                #expect(prepared.changes.contains { $0.hasPrefix("\(role): key ") && $0.hasSuffix("no longer signs") })
                #expect(
                    prepared.changes.contains { $0.hasPrefix("\(role): key ") && $0.hasSuffix("signs from now on") })
            }
            #expect(try await keys(world).count == 4)
            let early = await expectError(.gate) {
                try await world.publisher.publishRoot(of: world.app, by: "operator")
            }
            #expect(early?.found.contains("would refuse the next root: 0 of 1 signatures") ?? false, "\(early as Any)")
            // Until then the old ones sign.
            try await world.pass(Self.day)
            #expect(try await world.publisher.renew().problems == [])
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }

            #expect(try await world.publisher.pass(world.app, to: [holders.root], in: world.folder).isEnough)
            // Asked for once more, what is signed stays.
            #expect(try await replace(world).isEnough)
            let outcome = try await world.publisher.publishRoot(of: world.app, by: "ann")
            #expect(outcome == Publisher.RootOutcome(version: 2, hasOtherKeys: true, problems: []))
            #expect(world.catalog.ledger.generation(of: world.app) == 1)
            // With the root both have signed, so that an app that has only the first root is led to the next.
            #expect(try timestampKeys(world) == 2)
            let new = try await keys(world)
            #expect(new.count == 2 && Set(new.map(\.place.id)).isDisjoint(with: old.map(\.place.id)))
            #expect(world.catalog.ledger.nextKeys == [:])
            let entries = try await world.catalog.audit(after: -1, limit: 10_000).map { try AuditEntry($0) }
            let root = try #require(entries.last { $0.event == .root })
            #expect(root.actor == "ann" && root.facts["version"] == "2")
            let begun = entries.filter { $0.event == .key && $0.facts["action"] == "begun" }
            #expect(Set(begun.compactMap { $0.facts["replaces"] }) == Set(old.map(\.place.id)))

            for _ in 0..<2 {
                for app in apps + (try [true, false].map { try world.repositoryApp(isBundle: $0) }) {
                    #expect(try await app.letsIn(world.announced, trusting: world.root))
                }
                _ = try await world.followed()
                #expect(try await world.publisher.examine().filter(\.isFault) == [])
                try await world.pass(Self.day)
                let round = try await world.publisher.renew()
                #expect(round.problems == [] && !round.signed.isEmpty, "\(round)")
                // The new one alone.
                #expect(try timestampKeys(world) == 1)
            }
            // No app that has seen the new root accepts signatures of a thief of the old keys.
            let error = await expectError(.notFound) { try await world.publisher.publishRoot(of: world.app, by: "ann") }
            #expect(error?.remedy.contains("app repository rotate") ?? false)
        }
    }

    @Test("A root goes out by itself while targets wait for their change, and both keep their signatures")
    func besideTargets() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let next = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(next.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            let change = try await world.approvedRepository(holders)
            try await world.publisher.sign(change, holders, in: world.folder)
            _ = try await replace(world)
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder)
            #expect(try await world.publisher.publishRoot(of: world.app, by: "ann").version == 2)
            let app = try world.repositoryApp(isBundle: true)
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            #expect(try await !app.letsIn(next, trusting: world.root))
            // The change is open still, and its targets are signed.
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            #expect(try await app.letsIn(next, trusting: world.root))
        }
    }

    @Test("A root that waits for a change goes out with it, and its keys sign from then on")
    func withChange() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let old = Set(try await keys(world).map(\.place.id))
            _ = try await replace(world)
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder)
            let change = try await world.approvedRepository(holders) { $0.lifetime = 170 * Self.day }
            try await world.publisher.sign(change, holders, in: world.folder)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            #expect(world.publisher.live.current.document(at: Self.nextRoot.utf8) != nil)
            let new = try await keys(world)
            #expect(new.count == 2 && old.isDisjoint(with: new.map(\.place.id)))
            try await world.pass(Self.day)
            #expect(try await world.publisher.renew().problems == [])
            _ = try await world.followed()
        }
    }

    @Test("A root with keys that the server does not have is refused, naming the apps that would get nothing")
    func foreignKeys() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let foreign = TUFSigningKey()
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder) { folder in
                var state = try await folder.state()
                let old = try state.keys(of: .timestamp).ids
                try state.change(.timestamp, adding: [foreign.publicKey], removing: old, at: world.clock.now)
                try await folder.writeDrafts(state)
            }
            let error = await expectError(.gate) {
                try await world.publisher.publishRoot(of: world.app, by: "operator")
            }
            #expect(
                error?.found.contains(
                    "no key that the root names for timestamp: apps that follow the repository repo/bank would get nothing"
                )
                    ?? false, "\(error as Any)")
            let change = try await world.approvedRepository(holders) { $0.lifetime = 170 * Self.day }
            #expect(try await world.publisher.rehearse(change).refusal?.gate == .validation)
        }
    }

    @Test("If the keys that apps know are lost, the holders of the root give the server others, and apps go on")
    func lost() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let apps = try [true, false].map { try world.repositoryApp(isBundle: $0) }
            for app in apps { #expect(try await app.letsIn(world.shown, trusting: world.root)) }
            // The keys are lost: others are in their place, which no root names.
            for purpose in [SealedKey.Purpose.snapshot, .timestamp] {
                let pem = try #require(TUFSigningKey().pem)
                let key = try SealedKey(
                    sealing: pem, at: SealedKeyTests.place("other-\(purpose)", purpose),
                    with: World.secret())
                try await world.catalog.add(Catalog.Key(sealed: key), replacing: true, by: "operator")
            }
            try await world.pass(Self.day)
            #expect(try await world.publisher.renew().problems.contains { $0.contains("a key that signs timestamp") })
            _ = try await replace(world)
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder)
            let outcome = try await world.publisher.publishRoot(of: world.app, by: "ann")
            #expect(outcome.hasOtherKeys)
            #expect(
                outcome.problems.count == 1
                    && outcome.problems[0].hasPrefix("apps that follow the repository repo/bank and fetch file by file"),
                "\(outcome)")
            for app in apps { #expect(try await app.letsIn(world.announced, trusting: world.root)) }
            try await world.pass(Self.day)
            #expect(try await world.publisher.renew().problems == [])
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
        }
    }

    @Test("A prepared key whose row was changed signs nothing, holds up nothing, and is named by doctor")
    func damaged() async throws {
        for change: Query in [
            "UPDATE signing_key SET sealed = zeroblob(40) WHERE id = $1",
            "UPDATE signing_key SET public_key = zeroblob(91) WHERE id = $1", "DELETE FROM signing_key WHERE id = $1",
        ] {
            try await World.run { world in
                let holders = RepositoryHolders()
                try await world.publishRepository(holders)
                _ = try await replace(world)
                try await world.publisher.pass(world.app, to: [holders.root], in: world.folder)
                let next = try #require(world.catalog.ledger.nextKeys.values.first)
                try await world.catalog.requireKeys(sealedWith: World.secret())
                try await world.engine.write { session throws(ServerError) in
                    _ = try session.run(change, [.text(next.id)])
                }
                // A server says so when it begins.
                await #expect(throws: ServerError.self) {
                    try await world.catalog.requireKeys(sealedWith: World.secret())
                }
                await #expect(throws: ServerError.self) {
                    try await world.publisher.publishRoot(of: world.app, by: "operator")
                }
                #expect(world.publisher.live.current.document(at: Self.nextRoot.utf8) == nil)
                try await world.pass(Self.day)
                let round = try await world.publisher.renew()
                #expect(round.problems == [] && !round.signed.isEmpty, "\(round)")
                #expect(try await world.repositoryApp(isBundle: true).letsIn(world.shown, trusting: world.root))
                #expect(try await world.publisher.examine().contains { $0.isFault && $0.words.contains(next.id) })
            }
        }
    }
}
