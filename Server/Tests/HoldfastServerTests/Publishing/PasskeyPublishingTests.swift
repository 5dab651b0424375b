import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Publishing what passkeys approved", .timeLimit(.minutes(5)))
struct PasskeyPublishingTests {
    private func letPasskeysApprove(_ world: World, _ rule: PasskeyTerms.Rule = .keyRequired) async throws {
        let statement = try PasskeyStory.statement(after: try await world.catalog.approvers().head, rule)
        try await world.catalog.append(try PasskeyStory.signed(statement))
    }

    private func add(_ passkey: SoftPasskey, _ change: RandomID, _ world: World) async throws {
        let chain = try await world.catalog.approvers()
        let subject = try await world.catalog.change(change).subject(for: chain)
        try await world.catalog.add(passkey.says(.approve, subject, until: world.now + 86_400))
    }

    private func words(_ world: World, pages: String? = nil, faults: Bool) async throws -> [String] {
        let pages = try pages.map { try RelyingParty(origin: $0) }
        return try await world.publisher.examine(pages: pages).filter { $0.isFault == faults }.map(\.words)
    }

    @Test("A change is published that a key file and a passkey approved, and doctor verifies it whole")
    func publishing() async throws {
        try await World.run { world in
            try await letPasskeysApprove(world)
            let change = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await add(PasskeyStory.phone, change, world)
            try await add(PasskeyStory.stick, change, world)
            // Passkeys alone do not publish.
            await expectError(.notApproved) { try await world.publisher.publish(change) }
            try await world.approve(change, by: [.alice])
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows()
            #expect(try await words(world, pages: "https://pins.example.com", faults: true).isEmpty)
            let notes = try await words(world, faults: false)
            #expect(notes.contains { $0.contains("passkey-21, passkey-22") && $0.contains("key file") })
            // Its evidence is put in the place of another one's.
            let stick = try PasskeyStory.stick.key.identity
            let phone = try PasskeyStory.phone.key.identity
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run(
                    "UPDATE approval SET signature = (SELECT signature FROM approval WHERE identity = $1) WHERE identity = $2",
                    [.bytes(stick.bytes), .bytes(phone.bytes)])
            }
            #expect(try await words(world, faults: true).contains { $0.contains("generation 1") })
        }
    }

    @Test("Doctor says that passkeys alone are enough, and that the pages have moved")
    func doctor() async throws {
        try await World.run { world in
            let before = try await words(world, pages: "https://pins.example.com", faults: false)
            #expect(!before.contains { $0.contains("passkey") })
            try await letPasskeysApprove(world, .passkeysOnly)
            #expect(try await words(world, faults: false).contains { $0.hasPrefix("passkeys-only") })
            for (pages, remedy) in [
                ("https://pins.example.com:8443", "new address"), ("https://example.com", "register new passkeys"),
            ] {
                let faults = try await words(world, pages: pages, faults: true)
                #expect(faults.contains { $0.contains(pages) && $0.contains(remedy) }, "\(faults)")
            }
        }
    }

    @Test("Doctor names the people whose passkeys were made where the pages are no longer")
    func moved() async throws {
        try await World.run { world in
            try await PasskeyDesk(world: world).register(SoftPasskey())
            let words = "passkeys of dave were registered at https://pins.example.com"
            for (pages, isMoved) in [("https://pins.example.com", false), ("https://pins.example.org", true)] {
                let faults = try await self.words(world, pages: pages, faults: true)
                #expect(faults.contains { $0.contains(words) && $0.contains(pages) } == isMoved, "\(faults)")
            }
        }
    }
}
