#if os(macOS) || os(Linux)
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a store logs")
struct StoreLogTests {
    @Test("That a static list has no protection against older entries is said once, and of a challenge never")
    func replayProtection() async throws {
        // A process of its own: there is one logging system for each.
        await #expect(processExitsWith: .success) {
            let log = RecordingLog()
            log.bootstrap()
            func lines() -> Int { log.lines.count { $0.contains("does not protect against older entries") } }
            let fixture = try StoreFixture()
            let store = fixture.store()
            #expect(lines() == 0)
            try fixture.publish([(StoreFixture.name, 1, 100)])
            try await store.update()
            #expect(lines() == 1)
            #expect(log.lines.contains { $0.hasPrefix("notice ") && $0.contains("store=default") })
            try fixture.publish([(StoreFixture.name, 2, 100)])
            try await store.update(mode: .forced)
            #expect(store.judge(2) == .trusted && lines() == 1)

            let signed = try StoreFixture(useChallenge: true)
            signed.publishSigned([(StoreFixture.name, 1, 100)])
            try await signed.store(InMemoryDataStore()).update()
            #expect(lines() == 1)
        }
    }

    @Test("A failed update, a store that starts empty and an unsigned domainsConfig are logged")
    func others() async throws {
        await #expect(processExitsWith: .success) {
            let log = RecordingLog()
            log.bootstrap()
            var fixture = try StoreFixture()
            let store = fixture.store()
            #expect(await store.updateError()?.code == .networkError)
            #expect(log.lines.contains { $0.hasPrefix("warning an update failed") && $0.contains("networkError") })
            try fixture.publish([(StoreFixture.name, 1, 100)], more: #","domainsConfig":{}"#)
            try await store.update()
            #expect(log.lines.contains { $0.hasPrefix("warning domainsConfig of a static list") })
            fixture.configuration.publicKey = "AAAA"
            _ = fixture.store()
            #expect(log.lines.contains { $0.hasPrefix("error the store starts empty") })
        }
    }
}
#endif
