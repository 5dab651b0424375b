import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A store of revocation lists after a restart", .timeLimit(.minutes(15)))
struct RevocationRestartTests {
    private typealias Fixture = RevocationStoreFixture

    private let fixture: RevocationStoreFixture

    init() throws { fixture = try RevocationStoreFixture() }

    /// A storage that tells what is kept about places.
    private final class WatchedStorage: SecureDataStore {
        let storage: InMemoryDataStore
        let records: AsyncStream<Data>
        private let tell: AsyncStream<Data>.Continuation

        init(_ storage: InMemoryDataStore) {
            self.storage = storage
            (records, tell) = AsyncStream.makeStream()
        }

        func save(data: Data, forKey key: String) -> Bool {
            defer { if key == RevocationStore.placesKey { tell.yield(data) } }
            return storage.save(data: data, forKey: key)
        }

        func loadData(forKey key: String) -> Data? { storage.loadData(forKey: key) }
        func removeData(forKey key: String) { storage.removeData(forKey: key) }
    }

    /// A run of the application that meets the server, fetches what its certificates name, and keeps what they name.
    private func run() async throws {
        let storage = WatchedStorage(fixture.storage)
        let store = try fixture.store(configured: []) { $0.secureDataStore = storage }
        let events = store.events()
        #expect(try fixture.code(store) == nil)
        for await event in events { if event.kind == .replaced { break } }
        // The first look may have begun before the path was there: it keeps that there is nothing.
        for await record in storage.records { if record.range(of: Data("certificate".utf8)) != nil { break } }
        #expect(try fixture.code(store) == .revoked)
        fixture.provider.answer { _ in throw RemoteDataError(status: 503) }
    }

    @Test("refuses at once what a list revokes whose place only a certificate named")
    func firstDecision() async throws {
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf)])
        try await run()
        let store = try fixture.store(configured: [])
        #expect(try fixture.code(store) == .revoked)
        #expect(store.lists.map(\.url.absoluteString) == [Fixture.issuingURL, Fixture.rootURL])
        #expect(store.lists.map { $0.list == nil } == [false, true])
        // A store that follows no paths has only the lists that the configuration names.
        #expect(try fixture.store(configured: []) { $0.followsDistributionPoints = false }.lists.isEmpty)
    }

    @Test("waits for no list that only an earlier run met, until its place is named again")
    func gone() async throws {
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf)])
        try await run()
        fixture.clock.advance(by: .seconds(20 * 86_400))
        // The stored list has ended, the other never came, and nothing can be reached.
        let store = try fixture.store(configured: [])
        #expect(store.lists.map(\.isUsable) == [false, false])
        try await store.prepare()
        #expect(await store.updateError() == nil)
        // A certificate that is revoked names no place; one that the application gives does.
        #expect(try fixture.code(store) == .revoked)
        try await store.prepare()
        store.follow(try (fixture.leaf.chain + [fixture.root.root]).map { try X509Certificate(der: $0) })
        await #expect(throws: StoreError.self) { try await store.prepare() }
        #expect(await store.updateError() != nil)
    }

    @Test("forgets places that no path has named for a month")
    func forgets() async throws {
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf) { $0.nextUpdate = .hours(1_000) }])
        try await run()
        fixture.clock.advance(by: .seconds(29 * 86_400))
        #expect(try fixture.code(fixture.store(configured: [])) == .revoked)
        fixture.clock.advance(by: .seconds(2 * 86_400))
        #expect(try fixture.store(configured: []).lists.isEmpty)
    }

    @Test("has what could not be read at first when it can be read, and has not overwritten it")
    func locked() async throws {
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf)])
        try await run()
        let storage = LockableStorage(fixture.storage)
        let store = try fixture.store(configured: []) { $0.secureDataStore = storage }
        #expect(store.lists.isEmpty)
        store.keepPlaces()
        storage.lock(false)
        let changes = store.changes()
        await store.updateWhatIsDue()
        for await _ in changes { break }
        #expect(try fixture.code(store) == .revoked)
        #expect(try fixture.code(fixture.store(configured: [])) == .revoked)
    }

    @Test("takes no list from a record that was changed, and no list of a stranger's that it names")
    func changed() async throws {
        fixture.publish([Fixture.issuingURL: try fixture.list(fixture.leaf)])
        try await run()
        let key = RevocationStore.placesKey
        let kept = try #require(fixture.storage.loadData(forKey: key))
        for index in stride(from: 0, to: kept.count, by: 41) {
            var damaged = kept
            damaged[index] ^= 1
            _ = fixture.storage.save(data: damaged, forKey: key)
            #expect(try fixture.store(configured: []).lists.isEmpty)
        }
        // A record that is whole, of an authority that is not the one whose list is stored.
        let stranger = try RevocationStoreFixture()
        stranger.publish([Fixture.issuingURL: try stranger.list(stranger.leaf)])
        let store = try stranger.store(configured: [])
        #expect(try stranger.code(store) == nil)
        store.keepPlaces()
        _ = fixture.storage.save(data: try #require(stranger.storage.loadData(forKey: key)), forKey: key)
        let other = try fixture.store(configured: [])
        #expect(other.lists.map { $0.list == nil } == [true, true])
        #expect(try fixture.code(other) == nil)
    }

    @Test("keeps what another store has found in the same storage beside what it has found itself")
    func together() async throws {
        let other = try fixture.root.intermediate(name: "Other")
        let server = try other.leaf(names: ["www.example.com"]) {
            $0.extensions = [RevocationStoreFixture.point("http://lists.example.com/other.crl")]
        }
        let (first, second) = (try fixture.store(configured: []), try fixture.store(configured: []))
        for (store, chain) in [(first, fixture.leaf.chain), (second, server.chain)] {
            _ = try fixture.code(store, of: chain)
            store.keepPlaces()
        }
        let found = try fixture.store(configured: []).lists.map(\.url.absoluteString)
        #expect(Set(found).isSuperset(of: [Fixture.issuingURL, "http://lists.example.com/other.crl"]))
    }
}
