import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Stores over one storage", .timeLimit(.minutes(15)))
struct SharedStorageTests {
    @Test("Two stores of one process see each other's updates and resets at once", arguments: [true, false])
    func eachOther(isComparing: Bool) async throws {
        let fixture = try StoreFixture()
        let storage: any SecureDataStore = isComparing ? fixture.storage : LockableStorage(fixture.storage)
        (storage as? LockableStorage)?.lock(false)
        let (first, second) = (fixture.store(storage), fixture.store(storage))
        try fixture.publish([("www.example.com", 1, 100)])
        try await first.update()
        #expect(first.judge(1) == .trusted && second.judge(1) == .trusted)
        // The other need not ask the server, and what it finds there is compared with what counts.
        #expect(try await second.update().kind == .noUpdate)
        try fixture.publish([("www.example.com", 2, 100)])
        let report = try await second.finishedUpdate { try await second.update(mode: .forced) }
        #expect(report?.error == nil && first.judge(2) == .trusted && first.judge(1) == .untrusted)
        first.reset()
        #expect(second.judge(2) == .empty && fixture.store(storage).judge(2) == .empty)
    }

    @Test("A property that makes its store anew whenever it is read is one store all the same")
    func computed() async throws {
        let fixture = try StoreFixture()
        var shared: CertStore { fixture.store() }
        let policy = try shared.policy(for: "www.example.com")
        let held = shared
        try fixture.publish([("www.example.com", 1, 100)])
        try await shared.update()
        #expect(held.judge(1) == .trusted && shared.judge(1) == .trusted)
        #expect(held.nextUpdate > fixture.clock.now)
        withExtendedLifetime(policy) {}
    }

    @Test("Stores that are gone leave nothing behind")
    func gone() async throws {
        let fixture = try StoreFixture()
        weak var storage: SharedStorage?
        weak var documents: DocumentStore<CertStoreFormat>?
        do {
            for _ in 0..<100 {
                let store = fixture.store()
                (storage, documents) = (store.documents.storage, store.documents)
                #expect(storage != nil)
                withExtendedLifetime(store) {}
            }
        }
        #expect(storage == nil && documents == nil)
    }

    @Test("An observer is told of what another store has stored")
    func observers() async throws {
        let fixture = try StoreFixture()
        let (first, second) = (fixture.store(), fixture.store())
        let seen = Lock(0)
        second.addObserver { event in
            guard event.kind == .replaced else { return }
            // No lock or queue is held that another store over this storage would need.
            _ = fixture.store().entryCount
            seen.withLock { $0 += 1 }
        }
        try fixture.publish([("www.example.com", 1, 100)])
        try await first.update()
        #expect(seen.withLock { $0 } == 1)
    }

    @Test("What is of another key is no store's content, whoever has stored it under the same name")
    func otherKey() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.identifier = "shared"
        let first = fixture.store()
        try fixture.publish([("www.example.com", 1, 100)])
        try await first.update()
        fixture.configuration.publicKey = try DocumentSigner().publicKey.base64
        let other = fixture.store()
        #expect(other.judge(1) == .empty)
        other.reset()
        #expect(first.judge(1) == .trusted)
    }

    @Test("A document that was stored while another was downloaded stays, and the server is asked once more")
    func overtaken() async throws {
        let fixture = try StoreFixture()
        try fixture.publish([("www.example.com", 1, 100)])
        let slow = fixture.store()
        try await slow.update()
        let (older, newer) = (
            try fixture.list([("www.example.com", 2, 100)]), try fixture.list([("www.example.com", 3, 100)])
        )
        let (asked, gate) = (Gate(), Gate())
        let isFirst = Lock(true)
        fixture.provider.answer { _ in
            let isOld = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isOld else { return RemoteDataResponse(.body(newer)) }
            asked.open()
            await gate.wait()
            return RemoteDataResponse(.body(older))
        }
        async let update = slow.update(mode: .forced)
        await asked.wait()
        // Another process stores past this one.
        let foreign = InMemoryDataStore()
        try await fixture.store(foreign).update()
        let record = try #require(foreign.loadData(forKey: fixture.storageKey))
        #expect(fixture.storage.save(data: record, forKey: fixture.storageKey))
        gate.open()
        #expect(try await update.error == nil)
        #expect(slow.judge(3) == .trusted && fixture.store().judge(3) == .trusted)
    }

    @Test("A document that another process stores in the moment before this one saves its own stays")
    func overtakenWhileSaving() async throws {
        let fixture = try StoreFixture()
        let storage = OvertakenStorage()
        try fixture.publish([("www.example.com", 1, 100)])
        let store = fixture.store(storage)
        try await store.update()
        let older = try fixture.list([("www.example.com", 2, 100)])
        try fixture.publish([("www.example.com", 3, 100)])
        let foreign = InMemoryDataStore()
        try await fixture.store(foreign).update()
        let record = try #require(foreign.loadData(forKey: fixture.storageKey))
        storage.other.withLock { $0 = (fixture.storageKey, record) }
        fixture.provider.answer(older)
        #expect(try await store.update(mode: .forced).error == nil)
        // The server was asked once more: it is unknown which of the two is newer.
        #expect(storage.other.withLock { $0 } == nil && fixture.provider.requests.count == 4)
    }

    @Test("A data store of the application's own that does not compare is asked just before something is saved")
    func plain() async throws {
        let fixture = try StoreFixture()
        let storage = LockableStorage(fixture.storage)
        storage.lock(false)
        #expect(try storage.replaceIfUnchanged(nil, with: Data([1]), forKey: "a"))
        #expect(try !storage.replaceIfUnchanged(nil, with: Data([2]), forKey: "a"))
        #expect(try storage.replaceIfUnchanged(Data([1]), with: Data([2]), forKey: "a"))
        #expect(storage.loadData(forKey: "a") == Data([2]))
    }

    @Test("Comparing data stores replace what was read, and nothing else")
    func comparing() async throws {
        try await withTemporaryFolder { folder in
            for storage in [InMemoryDataStore(), FileDataStore(folder: folder)] as [any ComparingDataStore] {
                #expect(try !storage.replace(Data([9]), with: Data([1]), forKey: "a"))
                #expect(try storage.replace(nil, with: Data([1]), forKey: "a"))
                #expect(try !storage.replace(nil, with: Data([2]), forKey: "a"))
                #expect(try !storage.replace(Data(), with: Data([2]), forKey: "a"))
                #expect(storage.loadData(forKey: "a") == Data([1]))
                #expect(try storage.replace(Data([1]), with: Data(), forKey: "a"))
                #expect(storage.loadData(forKey: "a") == Data())
                storage.removeData(forKey: "a")
                #expect(try !storage.replace(Data(), with: Data([2]), forKey: "a"))
                #expect(storage.loadData(forKey: "a") == nil)
            }
            // A file that cannot be read may be newer than anything.
            let files = FileDataStore(folder: folder, maximumBytes: 4)
            try Data(repeating: 0, count: 5).write(to: files.file(forKey: "long"))
            #expect(throws: FileDataStoreError.self) { try files.replace(nil, with: Data([1]), forKey: "long") }
            #expect(try Data(contentsOf: files.file(forKey: "long")).count == 5)
        }
    }

    @Test("Of many who replace what they have read, each counts once")
    func counting() async throws {
        try await withTemporaryFolder { folder in
            for storage in [InMemoryDataStore(), FileDataStore(folder: folder)] as [any ComparingDataStore] {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var done = 0
                            while done < 25 {
                                let old = storage.loadData(forKey: "count")
                                let next = Data([(old?.first ?? 0) + 1])
                                if (try? storage.replace(old, with: next, forKey: "count")) == true { done += 1 }
                            }
                        }
                    }
                }
                #expect(storage.loadData(forKey: "count") == Data([100]))
            }
        }
    }
}

/// Another process saves just before this one does, once.
private final class OvertakenStorage: ComparingDataStore {
    let other = Lock<(key: String, record: Data)?>(nil)
    private let base = InMemoryDataStore()

    private func overtake() {
        let other = other.withLock { other in
            defer { other = nil }
            return other
        }
        if let other { _ = base.save(data: other.record, forKey: other.key) }
    }

    func save(data: Data, forKey key: String) -> Bool {
        overtake()
        return base.save(data: data, forKey: key)
    }

    func replace(_ old: Data?, with new: Data, forKey key: String) -> Bool {
        overtake()
        return base.replace(old, with: new, forKey: key)
    }

    func loadData(forKey key: String) -> Data? { base.loadData(forKey: key) }
    func removeData(forKey key: String) { base.removeData(forKey: key) }
}
