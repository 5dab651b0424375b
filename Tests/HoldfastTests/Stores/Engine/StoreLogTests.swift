import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a store logs", .timeLimit(.minutes(15)))
struct StoreLogTests {
    @Test("That a static list has no protection against older entries is said once, and of a challenge never")
    func replayProtection() async throws {
        let fixture = try StoreFixture()
        func lines(_ log: RecordingLog) -> Int {
            log.lines.count { $0.contains("does not protect against older entries") }
        }
        let store = fixture.store()
        #expect(lines(fixture.log) == 0)
        try fixture.publish([(StoreFixture.name, 1, 100)])
        try await store.update()
        #expect(lines(fixture.log) == 1)
        #expect(fixture.log.lines.contains { $0.hasPrefix("notice ") && $0.contains("store=default") })
        try fixture.publish([(StoreFixture.name, 2, 100)])
        try await store.update(mode: .forced)
        #expect(store.judge(2) == .trusted && lines(fixture.log) == 1)

        let signed = try StoreFixture(useChallenge: true)
        signed.publishSigned([(StoreFixture.name, 1, 100)])
        try await signed.store().update()
        #expect(lines(signed.log) == 0)
    }

    @Test("A failed update, a store that starts empty and an unsigned domainsConfig are logged")
    func others() async throws {
        var fixture = try StoreFixture()
        let log = fixture.log
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

    @Test("A store that is loaded off the caller's thread writes where one that is made on it does")
    func loaded() async throws {
        let log = RecordingLog()
        let fixture = try StoreFixture()
        let store = try await PolicyLog.$shared.withValue(log.policyLog) {
            try await CertStore.load(
                configuration: fixture.configuration, secureDataStore: fixture.storage,
                remoteDataProvider: fixture.provider, clock: fixture.clock)
        }
        #expect(await store.updateError()?.code == .networkError)
        #expect(log.lines.count == 2)
        #expect(log.lines.last?.hasPrefix("warning an update failed") == true)
    }

    @Test("A trust server's failed update is logged, with the customer whose document it is")
    func trustServer() async throws {
        let fixture = try TrustServerStoreFixture()
        let store = try fixture.store()
        fixture.fail()
        #expect(await store.updateError()?.code == .networkError)
        #expect(fixture.log.lines.count == 2)
        #expect(fixture.log.lines.last?.hasPrefix("warning an update failed") == true)
        #expect(fixture.log.lines.allSatisfy { $0.contains("store=gcx at ") })
    }

    @Test("A store logs what it does: that an update begins, what was taken or refused and why, and when it asks next")
    func course() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        let store = fixture.store()
        fixture.publishSigned([(StoreFixture.name, 1, 100), ("b.example.com", 2, 100)])
        try await store.update()
        let next = "next=\(store.nextUpdate.formatted(.iso8601))"
        fixture.publishSigned(body: Data("{}".utf8))
        #expect(await store.updateError()?.code == .invalidData)
        let retry = "next=\(store.nextUpdate.formatted(.iso8601))"
        _ = store.judge(1)
        store.reset()
        let expected: [(line: String, facts: [String])] = [
            ("debug an update begins", ["kind=direct"]),
            ("info a new document is in use", ["entries=2", "issued=2030-03-17T17:46:40Z", next]),
            ("debug an update has ended", [next]),
            ("debug an update begins", ["kind=direct"]),
            ("warning an update failed", ["error=invalidData", retry]),
            ("debug a certificate was validated", [#"name="www.example.com""#, "result=trusted"]),
            ("info the store was reset", []),
        ]
        let lines = fixture.log.lines
        #expect(lines.count == expected.count, "\(lines)")
        for (line, expected) in zip(lines, expected) {
            #expect(line.hasPrefix(expected.line) && line.contains("store=default"), "\(line)")
            for fact in expected.facts { #expect(line.contains(fact), "\(line)") }
        }
    }

    @Test("A document that could not be stored is logged, with the reason")
    func notStored() async throws {
        struct Full: SecureDataStore {
            func save(data: Data, forKey key: String) -> Bool { false }
            func loadData(forKey key: String) -> Data? { nil }
            func removeData(forKey key: String) {}
        }
        let fixture = try StoreFixture()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        try await fixture.store(Full()).update()
        let line = fixture.log.lines.last
        #expect(line?.hasPrefix("warning a document was not stored") == true && line?.contains("notStored") == true)
    }
}
