import Foundation
import HoldfastTesting
import Logging
import ServiceLifecycle
import Testing

@testable import Holdfast

@Suite("Stores as services", .timeLimit(.minutes(15)))
struct ServiceGroupTests {
    @Test("A group runs a store, which gets its pins, and ends it by a graceful shutdown")
    func group() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 30)])
        let store = fixture.store()
        let events = store.events()
        let group = ServiceGroup(services: [store], logger: RecordingLog().logger)
        async let run: Void = group.run()
        for await event in events {
            if event.kind == .updateFinished { break }
        }
        #expect(store.judge(1) == .trusted)
        await group.triggerGracefulShutdown()
        try await run
    }

    @Test("A store with a configuration in error ends its group at once, with the reason")
    func configurationError() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.publicKey = "no key"
        let group = ServiceGroup(services: [fixture.store()], logger: RecordingLog().logger)
        let error = await #expect(throws: StoreError.self) { try await group.run() }
        #expect(error?.code == .invalidConfiguration)
    }
}
