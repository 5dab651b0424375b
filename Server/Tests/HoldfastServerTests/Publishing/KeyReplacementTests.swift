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
@testable import ServerModel
@testable import ServerStore

/// An attacker may have a key with which the server signs.
@Suite("A key in the place of another")
struct KeyReplacementTests {
    private func key(_ id: String) throws -> Catalog.Key {
        Catalog.Key(
            sealed: try SealedKey(sealing: SigningKey().pem, at: SealedKeyTests.place(id), with: World.secret()))
    }

    private func ids(_ world: World) async throws -> Set<String> {
        let keys = try await world.catalog.look { session, _ throws(ServerError) in
            try Catalog.sealedKeys(Story.server, session)
        }
        return Set(keys.map(\.place.id))
    }

    @Test(
        "It signs what is published at once, the one before is removed, and clients that know that one keep what they have"
    )
    func fingerprints() async throws {
        try await World.run { world in
            try await world.publish()
            let storage = InMemoryDataStore()
            let old = try await world.certStore(storage: storage)
            _ = try await old.update(mode: .forced)
            let before = world.catalog.ledger.chain.head
            await expectError(.constraint) {
                try await world.publisher.add(key("list-2"), replacing: false, by: "operator")
            }
            #expect(world.catalog.ledger.chain.head == before)
            try await world.pass(60)
            let done = try await world.publisher.add(key("list-2"), replacing: true, by: "operator")
            #expect(done.problems == [] && done.signed.contains("lists/bank.json"), "\(done)")
            let lost = done.lost.joined(separator: "\n")
            for clients in ["CertStore apps with the list lists/bank.json", "CertStore apps with challenge answers"] {
                #expect(
                    lost.contains("\(clients) at api.example.com:443 that know the old key refuse all new documents"))
            }
            #expect(done.lost.count == 2, "\(done.lost)")
            // Builds with the new key get in, in every format.
            #expect(try await world.clientsThatGetIn(world.announced) == World.everybody)
            #expect(try await ids(world) == ["list-2", "trust-1"])
            // Those with the old one take nothing new, and lock no host out.
            let update = try? await old.update(mode: .forced)
            #expect(update == nil || update?.error != nil)
            #expect(try world.letsIn(world.shown, old.policy(for: World.host)))
            // Another process reads the same in the audit, and the folder has it.
            let other = try await world.another(world.engine)
            #expect(other.catalog.ledger.outdatedLists == [])
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
            let entries = try await world.catalog.audit(after: -1, limit: 1_000)
            let facts = try entries.map { try AuditEntry($0) }.filter { $0.event == .key }.compactMap {
                $0.facts["replaces"]
            }
            #expect(facts == ["list-1"])
        }
    }

    @Test("What the key before has signed is not written once another has taken its place")
    func overtaken() async throws {
        try await World.run { world in
            let change = try await world.approved().change
            let before = try await world.catalog.scene(of: world.app).keys
            _ = try await world.publisher.add(key("list-2"), replacing: true, by: "operator")
            let head = world.catalog.ledger.chain.head
            await expectError(.outOfTurn) {
                try await world.catalog.transact { step throws(ServerError) in
                    try Catalog.requireKeys(before, step)
                }
            }
            #expect(world.catalog.ledger.chain.head == head)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("A server that dies between the key and the list signs the list in its next round, and the canary's as well")
    func interrupted() async throws {
        try await World.run(canary: 86_400) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let change = try await world.approved().change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + 86_400))
            let lists = ["lists/bank.json", "lists/bank-canary.json"]
            try await world.catalog.add(key("list-2"), replacing: true, by: "operator")
            #expect(Set(world.catalog.ledger.outdatedLists.map(\.name)) == Set(lists))
            let generation = world.catalog.ledger.generation(of: world.app)
            let round = try await world.publisher.renew()
            #expect(Set(round.signed).isSuperset(of: lists) && round.problems == [], "\(round)")
            #expect(world.catalog.ledger.generation(of: world.app) == generation)
            for path in lists {
                let store = try await world.certStore(path: path)
                let update = try await store.update(mode: .forced)
                #expect(update.error == nil, "\(path)")
                #expect(try world.letsIn(world.shown, store.policy(for: World.host)), "\(path)")
            }
            #expect(try await !world.publisher.renew().signed.contains { $0.hasPrefix("lists/") })
        }
    }

    @Test(
        "Nothing is signed with another key beyond the end of what was approved, or for an app that published nothing")
    func permits() async throws {
        try await World.run { world in
            let done = try await world.publisher.add(key("list-2"), replacing: true, by: "operator")
            #expect(done == Publisher.KeyReplacement(lost: [], signed: [], problems: []))
            try await world.publish(world.draft { $0.lifetime = 31 * 86_400 })
            try await world.pass(32 * 86_400)
            let late = try await world.publisher.add(key("list-3"), replacing: true, by: "operator")
            #expect(late.signed == [] && late.problems.contains { $0.contains("a later end") }, "\(late)")
        }
    }
}
