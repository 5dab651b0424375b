public import struct Foundation.Data

/// Where a ``CertStore`` keeps what it downloaded. It need not be secret: signatures are verified again on load.
///
/// It may be called from any thread; one store never makes two calls for the same key at once. The calls may block.
public protocol SecureDataStore: Sendable {
    /// Keeps data under a key, in place of what was there; a reader finds the old or the new, never a half.
    /// - Returns: whether the data will be there after a restart.
    func save(data: Data, forKey key: String) -> Bool
    /// What is kept under a key; nil when there is nothing.
    func loadData(forKey key: String) -> Data?
    /// Forgets what is kept under a key.
    func removeData(forKey key: String)
}

/// A data store that says why something could not be read or kept.
public protocol ReportingDataStore: SecureDataStore {
    /// What is kept under a key; nil when there is nothing.
    /// - Throws: when there is something that cannot be read.
    func load(forKey key: String) throws -> Data?
    /// Keeps data under a key, in place of what was there.
    /// - Throws: when it is not kept; what was there before is there still.
    func replace(_ data: Data, forKey key: String) throws
}

extension ReportingDataStore {
    /// Keeps data under a key; false when ``ReportingDataStore/replace(_:forKey:)`` throws.
    public func save(data: Data, forKey key: String) -> Bool {
        do {
            try replace(data, forKey: key)
            return true
        } catch {
            return false
        }
    }

    /// What is kept under a key; nil also when it cannot be read.
    public func loadData(forKey key: String) -> Data? { try? load(forKey: key) }
}

/// Keeps data as long as the process lives: for tests, and where nothing may be written.
public final class InMemoryDataStore: SecureDataStore {
    private let values = Lock<[String: Data]>([:])

    /// Makes an empty one.
    public init() {}

    /// Keeps data under a key; always true.
    public func save(data: Data, forKey key: String) -> Bool {
        // What is let go may be the application's memory, with a deallocator of its own: it ends without the lock.
        _ = values.withLock { $0.updateValue(data, forKey: key) }
        return true
    }

    /// What is kept under a key; nil when there is nothing.
    public func loadData(forKey key: String) -> Data? { values.withLock { $0[key] } }

    /// Forgets what is kept under a key.
    public func removeData(forKey key: String) { _ = values.withLock { $0.removeValue(forKey: key) } }
}

extension SecureDataStore {
    /// What is kept under a key; nil when there is nothing, as far as this data store can tell.
    /// - Throws: when there is something that cannot be read, if the data store says so.
    func reported(forKey key: String) throws -> Data? {
        guard let reporting = self as? any ReportingDataStore else { return loadData(forKey: key) }
        return try reporting.load(forKey: key)
    }
}
