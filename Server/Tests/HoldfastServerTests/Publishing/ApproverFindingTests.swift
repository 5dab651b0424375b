import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel

@Suite("What doctor says about approvers", .timeLimit(.minutes(5)))
struct ApproverFindingTests {
    private func words(_ world: World) async throws -> [String] {
        try await world.publisher.examine().filter { !$0.isFault }.map(\.words)
    }

    @Test("With one approval whoever proposes may approve, and doctor says that one key publishes what it likes")
    func one() async throws {
        try await World.run(number: 1) { world in
            #expect(
                try await words(world).contains(
                    "only one approval is required, so a single stolen key can publish any pins; "
                        + "sign a statement of approvers that requires two"))
            let content = try await world.draft { $0.formats = World.fewFormats }
            let change = try await world.propose(content, proposer: Approver.alice.identity).change
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.approve(change, by: [.alice])
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows()
        }
    }

    @Test("doctor says how many keys may be lost: one of three if two must agree, and none if all must")
    func lost() async throws {
        try await World.run(number: 2) { world in
            let said = try await words(world)
            #expect(said.contains("if two of 3 approvers lose their keys, nothing is approved"), "\(said)")
            #expect(!said.contains { $0.contains("only one approval is required") })
        }
        try await World.run(number: 3) { world in
            let said = try await words(world)
            #expect(
                said.contains("3 of 3 approvers must agree: without one of them nothing is approved"), "\(said)")
        }
    }
}
