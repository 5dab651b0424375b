import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Whatever the application gave and a lock let go ends when the lock is free again: its `deinit` may come back.
@Suite("What stores let go", .timeLimit(.minutes(15)))
struct ReleasedUnlockedTests {
    private final class Farewells: Sendable {
        let count = Lock(0)
    }

    /// An error that asks the store when it is released.
    private final class AskingError: Error {
        private let ask: @Sendable () -> Void
        init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }
        deinit { ask() }
    }

    @Test("The error of an update that another one replaces may ask the store when it goes")
    func lastError() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store()
        let farewells = Farewells()
        fixture.provider.answer { _ in
            throw AskingError {
                _ = store.lastUpdate
                farewells.count.withLock { $0 += 1 }
            }
        }
        for _ in 0..<3 { _ = try? await store.update(mode: .forced) }
        #expect(store.lastUpdate?.error?.code == .networkError)
        #expect(farewells.count.withLock { $0 } == 2)
    }

    @Test("The memory that a value in memory was made of may ask the store when it goes")
    func data() throws {
        let storage = InMemoryDataStore()
        let farewells = Farewells()
        func value() -> Data {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
            return unsafe Data(
                bytesNoCopy: bytes, count: 64,
                deallocator: .custom { bytes, _ in
                    unsafe bytes.deallocate()
                    _ = storage.loadData(forKey: "key")
                    farewells.count.withLock { $0 += 1 }
                })
        }
        for _ in 0..<2 { _ = storage.save(data: value(), forKey: "key") }
        storage.removeData(forKey: "key")
        #expect(farewells.count.withLock { $0 } == 2)
    }
}
