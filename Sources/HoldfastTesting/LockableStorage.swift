package import Foundation
package import Holdfast

/// A data store that, like a keychain, is sometimes unreadable. It is locked at first.
package final class LockableStorage: ReportingDataStore {
    /// The content, which a test can read at any time.
    package let storage: InMemoryDataStore
    private let locked = Lock(true)

    package init(_ storage: InMemoryDataStore = InMemoryDataStore()) { self.storage = storage }

    package func lock(_ isLocked: Bool = true) { locked.withLock { $0 = isLocked } }

    package func load(forKey key: String) throws -> Data? {
        guard !locked.withLock({ $0 }) else { throw CocoaError(.fileReadNoPermission) }
        return storage.loadData(forKey: key)
    }

    package func replace(_ data: Data, forKey key: String) throws { _ = storage.save(data: data, forKey: key) }

    package func removeData(forKey key: String) { storage.removeData(forKey: key) }
}
