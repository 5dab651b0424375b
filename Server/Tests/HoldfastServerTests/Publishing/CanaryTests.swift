import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Which change the canary has")
struct CanaryTests {
    private static let list = "lists/bank.json"
    private static let canaryList = "lists/bank-canary.json"
    private static let day: Int64 = 86_400

    /// A world with a canary, where something is published.
    private func withPublished(_ body: (World) async throws -> Void) async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            try await body(world)
        }
    }

    /// Whether the canary and all other clients have the same bytes in every format, in memory and in the folder.
    private func isBack(_ world: World) throws -> Bool {
        let live = world.publisher.live.current
        return try World.fewFormats.allSatisfy { format in
            let content = try #require(live.parts[world.app]).documents
            let path = try #require(format.path(of: world.app))
            let canary = format.kind == .list ? Self.canaryList : "trust/\(World.customer)-canary.json.signed"
            let bytes = try #require(content[path]?.bytes)
            return try live.document(at: canary.utf8)?.bytes == bytes
                && world.publisher.folder.read(canary) == bytes && world.publisher.folder.read(path) == bytes
        }
    }

    @Test("A change that is rejected lets go of the canary, which gets back what everybody has, and never begins again")
    func rejected() async throws {
        try await withPublished { world in
            let change = try await world.approved().change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            #expect(world.catalog.ledger.canaries[world.app]?.change == change)
            #expect(try !isBack(world))
            try await world.catalog.add(try await world.statement(.carol, .reject, of: change))
            #expect(world.catalog.ledger.canaries[world.app] == nil)
            #expect(try await world.publisher.follow() == [])
            #expect(try isBack(world))
            await expectError(.outOfTurn) { try await world.approve(change) }
            await expectError(.rejected) { try await world.publisher.publish(change) }
            #expect(try await world.publisher.renew().problems == [])
            #expect(try isBack(world))
            for audience in ReleaseChannel.allCases { try await world.everybodyFollows(as: audience) }
            // The trust server's clients take it: it is no older than what the change had.
            let store = try await world.trustServerStore()
            _ = try await store.update(mode: .forced)
        }
    }

    @Test("A canary's list and its answers are valid for days only; what everybody gets, for as long as was approved")
    func shortLife() async throws {
        try await World.run(canary: Self.day) { world in
            let formats = World.formats.filter { $0.kind == .list || $0.kind == .challenge }
            try await world.publish(world.draft { $0.formats = formats }, forcing: [.canary])
            let change = try await world.catalog.change(try await world.approved(formats).change)
            try await world.publisher.publish(change.id)
            let settings = try await world.catalog.app(world.app).settings
            let limit = change.end + Self.day + settings.staleness
            #expect(limit < change.content.hosts[0].certificates[0].expires)
            func ends(_ path: String, _ app: String) throws -> Set<Int64> {
                let live = world.publisher.live.current
                let bytes = try #require(live.document(at: path.utf8)?.bytes)
                let answers = try #require(live.apps[try AppName(app)])
                let list = try FingerprintList(
                    verifying: Data(bytes), with: DocumentPublicKey(base64: answers.publicKey))
                return Set((list.entries + answers.entries).map { Int64($0.end.timeIntervalSince1970) - 1 })
            }
            #expect(try ends(Self.canaryList, "bank-canary").max() == limit)
            #expect(try ends(Self.list, "bank").allSatisfy { $0 > limit })
            try await world.followCanary(for: Self.day)
            try await world.approve(change.id)
            #expect(try await world.publisher.publish(change.id) == .published(generation: 2))
            #expect(try ends(Self.list, "bank").allSatisfy { $0 > limit })
            #expect(try ends(Self.canaryList, "bank-canary") == ends(Self.list, "bank"))
        }
    }

    @Test("A change whose seven days are over lets go of the canary by itself, with an entry in the audit")
    func lapsed() async throws {
        try await withPublished { world in
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            try await world.pass(Change.span + 1)
            let round = try await world.publisher.renew()
            #expect(round.settled.contains { $0.contains("\(change) has lapsed") })
            #expect(world.catalog.ledger.ended[change] == .lapsed)
            #expect(try isBack(world))
            await expectError(.outOfTurn) { try await world.approve(change) }
        }
    }

    @Test("When approvers are replaced, what the old ones approved leaves the canary, and new approvals begin it anew")
    func replacedApprovers() async throws {
        try await withPublished { world in
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            try await world.pass(Self.day - 10)
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet(try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
            try await world.catalog.append([Approver.alice, .bob, .dave].sign(next))
            #expect(try await world.publisher.follow() == [])
            #expect(try isBack(world))
            try await world.pass(20)
            // Its day would be over, and the old approvals would still be in time.
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            #expect(try await world.publisher.renew().problems == [])
            try await world.approve(change, by: [.alice, .dave])
            // Approved again, it has had no canary: the day begins now.
            #expect(try await world.catalog.change(change).canaryBegan == nil)
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            await expectError(.gate) { try await world.publisher.publish(change) }
            try await world.followCanary(for: Self.day + 1)
            try await world.approve(change, by: [.bob, .dave])
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
            #expect(try isBack(world))
        }
    }

    /// Two changes of the same generation, of which only one can be published.
    private func twoApproved(_ world: World) async throws -> (first: RandomID, second: RandomID) {
        let first = try await world.approved().change
        let second = try await world.propose(
            world.draft {
                $0.formats = World.fewFormats
                $0.lifetime = 170 * Self.day
            }
        ).change
        try await world.approve(second)
        return (first, second)
    }

    @Test("Two changes do not share a canary: the second waits until the first is published or rejected")
    func second() async throws {
        try await withPublished { world in
            let (first, second) = try await twoApproved(world)
            try await world.publisher.publish(first)
            let error = await expectError(.gate) { try await world.publisher.publish(second) }
            #expect(error?.found.contains("has change \(first)") == true)
            try await world.catalog.add(try await world.statement(.carol, .reject, of: first))
            #expect(try await world.publisher.publish(second) == .canary(until: world.now + Self.day))
            #expect(world.catalog.ledger.canaries[world.app]?.change == second)
            // The first one's day does not count for the second.
            try await world.pass(Self.day - 5)
            await expectError(.gate) { try await world.publisher.publish(second) }
        }
    }

    @Test("A change that found the canary free, and that another process overtook, does not take it")
    func overtaken() async throws {
        try await withPublished { world in
            let (first, second) = try await twoApproved(world)
            let engine = try world.interruptible()
            let other = try await world.another(engine)
            // After the gates, before the transaction.
            engine.interrupt { _ = try await world.publisher.publish(first) }
            let error = await expectError(.outOfTurn) { try await other.publish(second) }
            #expect(engine.wasInterrupted)
            #expect(error?.found.contains("change \(first) has") == true, "\(error as Any)")
            #expect(try await world.publisher.follow() == [])
            #expect(world.catalog.ledger.canaries[world.app]?.change == first)
            await engine.close()
        }
    }

    @Test("A change whose canary clients refuse, as another process saw after the gates, is not given to everybody")
    func refusedMeanwhile() async throws {
        try await withPublished { world in
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            try await world.followCanary()
            let engine = try world.interruptible()
            let other = try await world.another(engine)
            var look = CanaryLook()
            look.refuse("apps that follow the list refuse it")
            let refused = look
            // After the gates, before the transaction.
            engine.interrupt { try await world.catalog.note(refused, of: change, world.app) }
            let error = await expectError(.outOfTurn) { try await other.publish(change) }
            #expect(engine.wasInterrupted && error?.found == "apps that follow the list refuse it")
            #expect(world.catalog.ledger.generation(of: world.app) == 1)
            #expect(world.catalog.ledger.canaries[world.app]?.change == change)
            await engine.close()
        }
    }

    @Test("A rejected first change leaves the canary with nothing, in memory and in the folder")
    func first() async throws {
        try await World.run(canary: Self.day) { world in
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            #expect(try world.publisher.folder.read(Self.canaryList) != nil)
            try await world.catalog.add(try await world.statement(.carol, .reject, of: change))
            #expect(try await world.publisher.follow() == [])
            #expect(world.publisher.live.current.documents.isEmpty)
            #expect(try world.publisher.folder.read(Self.canaryList) == nil)
            // Versions go on: what was stopped before cannot come back.
            let next = try await world.approved().change
            try await world.publisher.publish(next)
            #expect(try world.publisher.folder.read(Self.canaryList) != nil)
            #expect(world.catalog.ledger.documents[.init(app: world.app, name: Self.canaryList)]?.version == 3)
            try await world.everybodyFollows(lettingIn: [world.shown])
        }
    }

    @Test("An emergency for everybody ends another change's canary")
    func emergency() async throws {
        try await withPublished { world in
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            #expect(world.catalog.ledger.canaries[world.app] == nil)
            #expect(try isBack(world))
            await expectError(.outOfTurn) { try await world.publisher.publish(change) }
        }
    }

    @Test("Whichever comes first, a rejection, a round or the beginning: the canary has what the ledger says")
    func races() async throws {
        try await withPublished { world in
            // A process of its own, as a command is.
            let engine = try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock)
            let other = try await world.another(engine)
            var (began, refused) = (0, 0)
            for round in 0..<5 {
                let change = try await world.approved().change
                let rejection = try await world.statement(.carol, .reject, of: change)
                async let published = world.publisher.publish(change)
                async let rejected: Void = {
                    for _ in 0..<(round * 3) { await Task.yield() }
                    try await other.catalog.add(rejection)
                }()
                async let rounds = other.renew()
                if (try? await published) != nil { began += 1 } else { refused += 1 }
                try await rejected
                _ = try await rounds
                #expect(try await world.publisher.follow() == [])
                #expect(world.catalog.ledger.canaries[world.app] == nil)
                #expect(try isBack(world), "round \(round)")

                // While one is given back, the next begins.
                let next = try await world.approved()
                async let settled = other.follow()
                #expect(try await world.publisher.publish(next.change).stage == .canary(until: world.now + Self.day))
                _ = try await settled
                #expect(try await world.publisher.follow() == [])
                #expect(world.catalog.ledger.canaries[world.app]?.change == next.change)
                let list = try #require(world.publisher.live.current.document(at: Self.canaryList.utf8))
                let pin = Base64.encode(Digest(of: next.certificate).bytes)
                #expect(Data(list.bytes).range(of: Data(pin.utf8)) != nil)
                try await world.catalog.add(try await world.statement(.carol, .reject, of: next.change))
            }
            #expect(began + refused == 5)
            await engine.close()
        }
    }
}
