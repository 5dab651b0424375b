import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerModel

@Suite("Every kind of client")
struct ClientFleetTests {
    @Test(
        "All of them follow, in this process and of others, and a document that is another is noticed",
        .needs(.foreignPeers, .holdfastctl))
    func all() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders(), beside: World.formats)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.everybodyFollows(lettingIn: [world.shown, world.announced], refusing: [stranger])
            await withKnownIssue { try await world.everybodyFollows(lettingIn: [stranger]) }
            await withKnownIssue { try await world.everybodyFollows(lettingIn: [], refusing: [world.shown]) }
            // Documents of before, in the place of those that are published.
            let old = world.publisher.live.current
            world.clock.advance(by: .seconds(700))
            await withKnownIssue { try await world.everybodyFollows() }
            _ = try await world.publisher.renew()
            try await world.everybodyFollows()
            #expect(world.publisher.live.current.sequence > old.sequence)
        }
    }
}
