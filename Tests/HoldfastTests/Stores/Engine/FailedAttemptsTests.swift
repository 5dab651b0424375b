import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// An application that ends and starts again over the same storage.
@Suite("A store that failed and starts again", .timeLimit(.minutes(15)))
struct FailedAttemptsTests {
    private let fixture: StoreFixture
    private let key: String

    init() throws {
        fixture = try StoreFixture()
        key = "\(fixture.storageKey).attempt"
    }

    private var requests: Int { fixture.provider.requests.count }
    private var kept: Data? { fixture.storage.loadData(forKey: key) }
    private var format: CertStoreFormat { fixture.store(InMemoryDataStore()).documents.format }

    private func settle(_ store: CertStore) async {
        _ = await store.documents.state.withLock { $0.underWay }?.value
    }

    /// Everything that makes a store ask by itself.
    private func ask(_ store: CertStore) async {
        store.documents.updateIfDue()
        store.documents.updateIfAsked(by: [.noPins(.empty), .mismatch(.enforce), .noPins(.expired)])
        try? await store.prepare()
        await settle(store)
    }

    @Test(
        "Within the back-off it asks for nothing by itself, however often it starts; after it, once, and waits longer")
    func restart() async throws {
        let first = fixture.store()
        #expect(await first.updateError()?.code == .networkError)
        let next = first.nextUpdate
        for seconds in [0.0, 1, 10] {
            fixture.clock.set(Date(wholeSeconds: StoreFixture.start).addingTimeInterval(seconds))
            let store = fixture.store()
            #expect(!store.needsPreparation && store.documents.wait(at: fixture.clock.now) > 0)
            await ask(store)
            #expect(requests == 1 && abs(store.nextUpdate.timeIntervalSince(next)) < 1)
        }
        fixture.clock.set(next)
        let store = fixture.store()
        #expect(store.needsPreparation && store.documents.wait(at: next) == 0)
        await ask(store)
        #expect(requests == 2 && store.lastUpdate?.error?.code == .networkError)
        #expect((30...60).contains(store.nextUpdate.timeIntervalSince(next)))
        #expect((29...60).contains(fixture.store().nextUpdate.timeIntervalSince(next)))
    }

    @Test("A forced update is made at once, and its success is the end of the back-off, for later starts as well")
    func success() async throws {
        for _ in 0..<3 { _ = await fixture.store().updateError() }
        #expect(requests == 3 && kept != nil)
        try fixture.publish([(StoreFixture.name, 1, 100)])
        let store = fixture.store()
        #expect(await store.updateError() == nil)
        #expect(requests == 4 && kept == nil)
        fixture.storage.removeData(forKey: fixture.storageKey)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
        let empty = fixture.store()
        await ask(empty)
        #expect(requests == 5)
        #expect((14...30).contains(empty.nextUpdate.timeIntervalSince(fixture.clock.now)))
    }

    @Test("A document that another store has stored is the end of the back-off of this one")
    func sharedStorage() async throws {
        let store = fixture.store()
        _ = await store.updateError()
        try fixture.publish([(StoreFixture.name, 1, 100)])
        try await fixture.store().update(mode: .forced)
        #expect(kept == nil && store.judge(1) == .trusted && store.nextUpdate > fixture.clock.now + 3_600)
    }

    @Test("A reset forgets it")
    func reset() async throws {
        let store = fixture.store()
        _ = await store.updateError()
        store.reset()
        #expect(kept == nil && fixture.store().documents.wait(at: fixture.clock.now) == 0)
    }

    @Test("A failure that a reset has overtaken is not kept")
    func resetMeanwhile() async throws {
        let (begun, gate) = (Gate(), Gate())
        fixture.provider.answer { _ in
            begun.open()
            await gate.wait()
            throw RemoteDataError(status: 503)
        }
        let store = fixture.store()
        async let error = store.updateError()
        await begun.wait()
        store.reset()
        gate.open()
        #expect(await error != nil && kept == nil)
    }

    @Test("Where it cannot be kept, nothing else is different")
    func notKept() async throws {
        struct Full: SecureDataStore {
            let storage: InMemoryDataStore
            func save(data: Data, forKey key: String) -> Bool { false }
            func loadData(forKey key: String) -> Data? { storage.loadData(forKey: key) }
            func removeData(forKey key: String) { storage.removeData(forKey: key) }
        }
        let store = fixture.store(Full(storage: fixture.storage))
        #expect(await store.updateError()?.code == .networkError)
        #expect((15...30).contains(store.nextUpdate.timeIntervalSince(fixture.clock.now)))
        #expect(fixture.store(Full(storage: fixture.storage)).needsPreparation)
    }

    @Test(
        "A record that is further from now than the longest back-off counts for nothing, in either direction",
        arguments: [3_601.0, 86_400, 1e9, 1e15, -3_601, -1e9, 3_600, -3_600])
    func distance(seconds: TimeInterval) throws {
        let now = fixture.clock.now
        let attempts = FailedAttempts(count: 5, retryTime: now.addingTimeInterval(seconds))
        let data = attempts.data(origin: format.origin)
        let counts = abs(seconds) <= 3_600
        #expect(FailedAttempts(data, of: format, at: now) == (counts ? attempts : nil))
        _ = fixture.storage.save(data: data, forKey: key)
        let store = fixture.store()
        #expect((store.documents.wait(at: now) > 0) == (counts && seconds > 0))
        #expect(store.documents.wait(at: now) <= 900)
    }

    @Test("A clock that was set back by a day puts nothing off")
    func clockSetBack() async throws {
        _ = await fixture.store().updateError()
        fixture.clock.advance(by: .seconds(-86_400))
        let store = fixture.store()
        await ask(store)
        #expect(requests == 2)
    }

    @Test(
        "A count out of bounds, another origin, another kind, or more octets than such a record has count for nothing")
    func foreign() throws {
        let now = fixture.clock.now
        let retryTime = now.addingTimeInterval(20)
        func read(_ change: (inout StoredRecord) -> Void) throws -> FailedAttempts? {
            let data = FailedAttempts(count: 5, retryTime: retryTime).data(origin: format.origin)
            var record = try #require(StoredRecord(data))
            change(&record)
            return FailedAttempts(record.data, of: format, at: now)
        }
        #expect(try read { _ in } == FailedAttempts(count: 5, retryTime: retryTime))
        for count in ["0", "-1", "65", "", "5 ", "99999999999999999999", "\u{FF15}"] {
            #expect(try read { $0.body = Data(count.utf8) } == nil, "\(count)")
        }
        #expect(try read { $0.origin = StoredRecord.origin(of: [[1]]) } == nil)
        #expect(try read { $0.format = .list } == nil)
        #expect(try read { $0.entityTag = String(repeating: "x", count: 400) } == nil)
        #expect(FailedAttempts(count: 1_000, retryTime: retryTime).count == 64)
    }

    @Test("Damage makes it count for nothing; the document is verified and a forced update made all the same")
    func damage() async throws {
        try fixture.publish([(StoreFixture.name, 1, 100)])
        try await fixture.store().update()
        let format = format
        let now = fixture.clock.now
        let attempts = FailedAttempts(count: 3, retryTime: now.addingTimeInterval(50))
        let data = [UInt8](attempts.data(origin: format.origin))
        let tokens: [[UInt8]] = [Array("next 10\n".utf8), Array("9999999999".utf8), [0], Array("body 1\n3\n".utf8)]
        var generator = SplitMix64(seed: 24)
        for _ in 0..<1_000 {
            let mutant = Data(generator.mutated(data, tokens: tokens))
            let read = FailedAttempts(mutant, of: format, at: now)
            #expect(read == nil || Array(mutant) == data, "\(mutant.base64EncodedString())")
        }
        for _ in 0..<10 {
            _ = fixture.storage.save(data: Data(generator.mutated(data, tokens: tokens)), forKey: key)
            let store = fixture.store()
            #expect(store.judge(1) == .trusted && store.storageError == nil)
            #expect(await store.updateError() == nil)
            #expect(kept == nil)
        }
    }
}
