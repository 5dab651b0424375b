import Foundation
import Holdfast
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("How long approvals are valid", .timeLimit(.minutes(5)))
struct ApprovalEndTests {
    private static let day: Int64 = 86_400

    @Test("An approval of the seventh day outlasts a canary of three days")
    func outlasts() async throws {
        try await World.run(canary: 3 * Self.day) { world in
            let draft = try await world.draft { $0.formats = World.fewFormats }
            let change = try await world.propose(draft).change
            try await world.pass(Change.span - 3_600)
            let end = try await world.catalog.change(change).approvalEnd(
                with: world.catalog.app(world.app).settings)
            #expect(end == Story.now + Change.span + 3 * Self.day)
            for approver in [Approver.alice, .bob] {
                try await world.catalog.add(world.statement(approver, of: change, until: end))
            }
            #expect(try await world.publisher.publish(change).stage == .canary(until: world.now + 3 * Self.day))
            // Its seven days are over long before the canary's time is; people see it as open all the same.
            try await world.followCanary(for: 3 * Self.day - 3_600)
            #expect(world.catalog.ledger.openChanges(at: world.now).map(\.change) == [change])
            try await world.followCanary(for: 2 * 3_600)
            #expect(try await world.publisher.publish(change).stage == .published(generation: 1))
            try await world.everybodyFollows()
        }
    }

    @Test("Without a canary, or in an emergency, an approval ends with its change")
    func emergency() async throws {
        let cases: [(canary: Int64, forced: Set<Gate>)] = [(0, []), (Self.day, [Gate.canary])]
        for (canary, forced) in cases {
            try await World.run(canary: canary) { world in
                let draft = try await world.draft { $0.formats = World.fewFormats }
                let change = try await world.propose(draft, forcing: forced).change
                let end = try await world.catalog.change(change).approvalEnd(
                    with: world.catalog.app(world.app).settings)
                #expect(end == Story.now + Change.span)
            }
        }
    }

    @Test("A change whose approvals have ended gives its canary back")
    func over() async throws {
        try await World.run(canary: 3 * Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let draft = try await world.draft { $0.formats = World.fewFormats }
            let change = try await world.propose(draft).change
            try await world.pass(Change.span - 3_600)
            for approver in [Approver.alice, .bob] {
                try await world.catalog.add(world.statement(approver, of: change, until: world.now + 7_200))
            }
            _ = try await world.publisher.publish(change)
            try await world.followCanary(for: 3 * 3_600)
            #expect(world.catalog.ledger.canaries[world.app] == nil)
            await #expect(throws: ServerError.self) { try await world.publisher.publish(change) }
            try await world.everybodyFollows()
        }
    }
}
