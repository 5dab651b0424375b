import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a store keeps", .timeLimit(.minutes(15)))
struct CertStoreStorageTests {
    @Test("A store finds what an earlier one of the same identifier stored, and another identifier does not")
    func identifiers() async throws {
        var fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store()
        try await store.update()
        let next = store.nextUpdate
        let again = fixture.store()
        #expect(again.judge(1) == .trusted && again.storageError == nil)
        #expect(abs(again.nextUpdate.timeIntervalSince(next)) < 1)
        #expect(try await again.update().kind == .noUpdate)
        fixture.configuration.identifier = "other"
        let other = fixture.store()
        #expect(other.judge(1) == .empty)
        try fixture.publish([("www.example.com", 2, 100)])
        try await other.update()
        #expect(fixture.store().judge(2) == .trusted && again.judge(2) == .untrusted)
        other.reset()
        fixture.configuration.identifier = nil
        #expect(fixture.store().judge(1) == .trusted)
    }

    @Test("What could not be read at first is read before something takes its place, and when there is nothing else")
    func lockedStorage() async throws {
        let fixture = try StoreFixture()
        let storage = LockableStorage()
        try fixture.publish([("www.example.com", 1, 100), ("b.example.com", 2, 100)])
        try await fixture.store(storage.storage).update()
        let store = fixture.store(storage)
        #expect(store.storageError?.code == .damagedStorage && store.judge(1) == .empty)
        storage.lock(false)
        // Without the name that is stored: refused, although the store did not know of it when it was made.
        try fixture.publish([("b.example.com", 2, 100)])
        let error = await store.updateError()
        #expect((error?.underlying as? DocumentError)?.code == .losesPins)
        #expect(store.judge(1) == .trusted)

        let offline = fixture.store(storage)
        storage.lock()
        let other = fixture.store(storage)
        storage.lock(false)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        #expect(await other.updateError()?.code == .networkError)
        other.documents.storageQueue.sync {}
        #expect(other.judge(1) == .trusted && offline.judge(1) == .trusted)
    }

    @Test("What is loaded off the caller's thread is the same")
    func load() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        try await fixture.store().update()
        let store = try await CertStore.load(
            configuration: fixture.configuration, secureDataStore: fixture.storage,
            remoteDataProvider: fixture.provider,
            clock: fixture.clock)
        #expect(store.judge(1) == .trusted)
    }

    @Test(
        "Signatures are verified again on load: a changed record is an empty store that says so",
        arguments: [true, false])
    func changedRecord(useChallenge: Bool) async throws {
        let fixture = try StoreFixture(useChallenge: useChallenge)
        if useChallenge {
            fixture.publishSigned([("www.example.com", 1, 100)])
        } else {
            try fixture.publish([("www.example.com", 1, 100)])
        }
        try await fixture.store().update()
        var record = try #require(fixture.storage.loadData(forKey: fixture.storageKey).flatMap { StoredRecord($0) })
        let text = String(decoding: record.body, as: UTF8.self)
        record.body = Data(text.replacingOccurrences(of: "www.example.com", with: "www.example.org").utf8)
        // An attacker who changes the record can make its checksum fit, but not the signature.
        _ = fixture.storage.save(data: record.data, forKey: fixture.storageKey)
        let store = fixture.store()
        #expect(store.storageError?.code == .damagedStorage)
        #expect((store.storageError?.underlying as? DocumentError)?.code == .invalidSignature)
        #expect(store.judge("www.example.org", 1) == .empty && store.judge(1) == .empty)
    }

    @Test("What was signed with another key than the configured one counts as nothing")
    func otherKey() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.identifier = "shared"
        try fixture.publish([("www.example.com", 1, 100)])
        try await fixture.store().update()
        fixture.configuration.publicKey = try DocumentSigner().publicKey.base64
        #expect(fixture.store().judge(1) == .empty && fixture.store().storageError?.code == .damagedStorage)
    }

    /// Stores that differ in what they are set up with, each with a server of its own.
    private func stores(identifier: String?) throws -> [(StoreFixture, CertStore)] {
        let storage = InMemoryDataStore()
        var fixtures = [try StoreFixture(), try StoreFixture(), try StoreFixture(useChallenge: true)]
        // One signer for all: what tells them apart is not that a signature does not verify.
        for index in fixtures.indices {
            fixtures[index].configuration.publicKey = try fixtures[0].signer.publicKey.base64
            fixtures[index].configuration.identifier = identifier
        }
        fixtures[1].configuration.serviceURL = try #require(URL(string: "https://pins.example.com/other"))
        return fixtures.map { ($0, $0.store(storage)) }
    }

    @Test("Stores with default settings have a file each, whatever URL, key or mode they differ in")
    func defaults() async throws {
        let stores = try stores(identifier: nil)
        let (first, _) = stores[0]
        #expect(Set(stores.map(\.1.documents.format.storageKey)).count == 3)
        #expect(stores.allSatisfy { $0.1.configuration.instanceIdentifier == "default" })
        try first.publish([("www.example.com", 1, 100)])
        try await stores[0].1.update()
        for (fixture, store) in stores.dropFirst() {
            let again = CertStore(
                configuration: fixture.configuration, secureDataStore: store.documents.dataStore,
                remoteDataProvider: fixture.provider, clock: fixture.clock, logger: fixture.log.logger)
            #expect(again.judge(1) == .empty && again.storageError == nil)
        }
        #expect(first.store(stores[0].1.documents.dataStore).judge(1) == .trusted)
    }

    @Test("Under one identifier, what another URL, key or mode has kept counts as nothing, and that is said")
    func sharedIdentifier() async throws {
        let stores = try stores(identifier: "shared")
        let (first, _) = stores[0]
        try first.publish([("www.example.com", 1, 100)])
        try await stores[0].1.update()
        for (fixture, store) in stores.dropFirst() {
            let again = CertStore(
                configuration: fixture.configuration, secureDataStore: store.documents.dataStore,
                remoteDataProvider: fixture.provider, clock: fixture.clock, logger: fixture.log.logger)
            #expect(again.judge(1) == .empty && again.storageError?.code == .damagedStorage)
        }
    }

    @Test("The newest issue time of a record is unsigned: it is no later than the signed one")
    func newestIssue() async throws {
        let fixture = try StoreFixture(useChallenge: true)
        fixture.publishSigned([("www.example.com", 1, 100)])
        try await fixture.store().update()
        var record = try #require(fixture.storage.loadData(forKey: fixture.storageKey).flatMap { StoredRecord($0) })
        record.newestIssue = .max
        _ = fixture.storage.save(data: record.data, forKey: fixture.storageKey)
        let store = fixture.store()
        #expect(store.judge(1) == .trusted && store.trustedTime == fixture.clock.now)
    }

    @Test(
        "A tag that is none is not sent again",
        arguments: ["\"a\u{301}\"", "\"a b\"", String(repeating: "x", count: 257)])
    func entityTag(text: String) async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)], headers: ["ETag": text])
        let store = fixture.store()
        try await store.update()
        try await store.update(mode: .forced)
        #expect(fixture.provider.requests.count == 2)
        #expect(fixture.provider.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    }

    @Test("A record of the other kind counts as nothing")
    func otherKind() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.identifier = "shared"
        try fixture.publish([("www.example.com", 1, 100)])
        try await fixture.store().update()
        fixture.configuration.useChallenge = true
        #expect(fixture.store().storageError?.code == .damagedStorage)
    }

    @Test("Any damage to a record is noticed")
    func damage() throws {
        var record = StoredRecord(format: .challenge, body: Data(#"{"a":"b"}"#.utf8))
        record.challenge = "AAEC"
        record.signature = "xyz"
        record.nextUpdate = 17
        record.newestIssue = -4
        record.entityTag = "\"v 1\"\n"
        record.origin = StoredRecord.origin(of: [[1], [2]])
        let data = record.data
        #expect(StoredRecord(data) == record)
        for index in data.indices {
            var changed = data
            changed[index] ^= 1
            #expect(StoredRecord(changed) == nil)
            #expect(StoredRecord(data.prefix(index)) == nil)
        }
        #expect(StoredRecord(data + Data([0])) == nil)
    }

    @Test("The date of the next update is unsigned: it puts off nothing beyond the periodic interval")
    func nextUpdate() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        try await fixture.store().update()
        var record = try #require(fixture.storage.loadData(forKey: fixture.storageKey).flatMap { StoredRecord($0) })
        record.nextUpdate = .max
        _ = fixture.storage.save(data: record.data, forKey: fixture.storageKey)
        #expect(fixture.store().nextUpdate == fixture.clock.now.addingTimeInterval(7 * 86_400))
    }

    @Test("A document that cannot be stored counts all the same, and the report says so")
    func notStored() async throws {
        struct Refusing: SecureDataStore {
            func save(data: Data, forKey key: String) -> Bool { false }
            func loadData(forKey key: String) -> Data? { nil }
            func removeData(forKey key: String) {}
        }
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store(Refusing())
        let report = try await store.update()
        #expect(report.result == .ok && report.error?.code == .notStored && store.judge(1) == .trusted)
    }

    @Test("Fallback entries are not stored")
    func fallback() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.fallbackCertificateData = Data(
            #"{"name":"a","fingerprint":"\#(Data.fingerprint(7).base64EncodedString())","expires":9000000000}"#.utf8)
        let store = fixture.store()
        #expect(store.judge("a", 7) == .trusted && fixture.storage.loadData(forKey: fixture.storageKey) == nil)
    }
}
