import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// A copy of the protocol `Service` of swift-service-lifecycle, which each service of a group implements.
private protocol Service: Sendable {
    func run() async throws
}

extension CertStore: Service {}

@Suite("A store in a group of services", .timeLimit(.minutes(15)))
struct StoreServiceTests {
    @Test("It runs as a service of a group beside others, and ends when the group is canceled")
    func group() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        let events = store.events()
        let services: [any Service] = [store]
        await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            for await event in events {
                if event.kind == .updateFinished { break }
            }
            group.cancelAll()
            while let result = await group.nextResult() { #expect(throws: Never.self) { try result.get() } }
        }
        #expect(store.judge(1) == .trusted)
    }

    @Test("With a configuration in error the service ends with it at once, so that the group learns of it")
    func misconfigured() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.publicKey = "AAAA"
        let service: any Service = fixture.store()
        let error = await #expect(throws: StoreError.self) { try await service.run() }
        #expect(error?.code == .invalidConfiguration)
    }
}
