import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("The catalog")
struct CatalogTests {
    @Test("What was written is there when the catalog is opened again, and every write is in the audit")
    func opened() async throws {
        try await World.run { world in
            let again = try await Catalog(
                world.engine, server: Story.server, genesis: Digest(of: world.story.genesis.text),
                head: HeadFile(world.folder.appending(path: "head")), time: World.time(world.clock, in: world.folder))
            #expect(again.apps == [world.app])
            #expect(try await again.app(world.app).displayName == "Bank")
            #expect(try await again.hosts(of: world.app) == [world.catalogHost])
            #expect(
                try await again.next(of: world.catalogHost, world.app).chains.map(\.begins) == [Story.now + World.month]
            )
            let seen = try await again.observations(of: world.catalogHost, world.app)
            #expect(seen.map { $0.chain?.certificates } == [world.shown.chain, world.shown.chain])
            #expect(
                try await again.key(.fingerprints, of: world.app) == world.catalog.key(.fingerprints, of: world.app))
            // Created, approvers, app, host, two keys, next, what two saw.
            #expect(again.ledger.chain.head.count == 9)
            #expect(try HeadFile(world.folder.appending(path: "head")).heads() == [again.ledger.chain.head])
        }
    }

    @Test("Another process that writes is followed, and a database that somebody else wrote to is refused")
    func others() async throws {
        try await World.run { world in
            let other = try await Catalog(
                world.engine, server: Story.server, genesis: Digest(of: world.story.genesis.text),
                head: HeadFile(world.folder.appending(path: "head")), time: World.time(world.clock, in: world.folder))
            try await other.set(try CatalogHost(name: "www.example.com"), of: world.app, by: "operator")
            #expect(try await world.catalog.hosts(of: world.app).count == 2)
            try await world.catalog.set(try CatalogHost(name: "m.example.com"), of: world.app, by: "operator")
            #expect(try await other.hosts(of: world.app).count == 3)

            // An attacker writes a good entry, and does not have the file.
            let entry = try other.ledger.chain.next(.resumed, by: "operator", at: Story.now)
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run(
                    "INSERT INTO audit (place, entry) VALUES ($1, $2)", [.integer(entry.index), .bytes(entry.bytes)])
            }
            await expectError(.brokenChain) { try await world.catalog.hosts(of: world.app) }
            await expectError(.brokenChain) {
                try await world.catalog.set(world.catalogHost, of: world.app, by: "operator")
            }
        }
    }

    @Test("A transaction that fails leaves the audit and the file as they were")
    func failed() async throws {
        try await World.run { world in
            let head = world.catalog.ledger.chain.head
            await expectError(.constraint) {
                try await world.catalog.addApp(
                    world.app, displayName: "Again",
                    settings: AppSettings(anchors: [world.root.root], builds: nil), by: "operator")
            }
            await expectError(.notFound) {
                try await world.catalog.set(world.catalogHost, of: AppName("shop"), by: "operator")
            }
            #expect(world.catalog.ledger.chain.head == head)
            try await world.catalog.set(world.catalogHost, of: world.app, by: "operator")
            #expect(world.catalog.ledger.chain.head.count == head.count + 1)
        }
    }

    @Test("A crash between the commit and the file is overcome, and one head too old is not")
    func crashes() async throws {
        try await World.run { world in
            let file = HeadFile(world.folder.appending(path: "head"))
            let before = world.catalog.ledger.chain.head
            try await world.catalog.set(world.catalogHost, of: world.app, by: "operator")
            let after = world.catalog.ledger.chain.head
            func open() async throws -> Catalog {
                try await Catalog(
                    world.engine, server: Story.server, genesis: Digest(of: world.story.genesis.text), head: file,
                    time: World.time(world.clock, in: world.folder))
            }
            try file.write(before, next: after)
            #expect(try await open().ledger.chain.head == after)
            try file.write(before)
            await expectError(.brokenChain) { try await open() }
            try FileManager.default.removeItem(at: file.url)
            await expectError(.file) { try await open() }
        }
    }

    @Test("A clock that was set back before the last entry stops every write")
    func clock() async throws {
        try await World.run { world in
            world.clock.set(Date(timeIntervalSince1970: TimeInterval(Story.now - 1)))
            await expectError(.clock) {
                try await world.catalog.set(world.catalogHost, of: world.app, by: "operator")
            }
        }
    }

    @Test("A key that nobody announced is an alarm once")
    func alarms() async throws {
        try await World.run { world in
            let digest = Digest(of: [7])
            for isNew in [true, false] {
                let raised = try await world.catalog.alarm(
                    about: digest, on: world.catalogHost, of: world.app, words: "seen")
                #expect(raised == (isNew ? "seen" : nil))
            }
        }
    }

    @Test("Approvers follow each other, signed under those before")
    func approvers() async throws {
        try await World.run { world in
            let before = try await world.catalog.approvers()
            let next = try ApproverStatement(
                after: before.head,
                approvers: ApproverSet(try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
            await expectError(.notApproved) { try await world.catalog.append([Approver.alice, .dave].sign(next)) }
            try await world.catalog.append([Approver.alice, .bob, .dave].sign(next))
            #expect(try await world.catalog.approvers().head.digest == next.digest)
            #expect(world.catalog.ledger.approvers?.index == 1)
        }
    }
}
