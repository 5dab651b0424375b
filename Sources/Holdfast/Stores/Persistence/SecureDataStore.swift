public import struct Foundation.Data

/// Storage for the downloads of a store such as a ``CertStore``. The data need not be secret: signatures are verified
/// again on load.
///
/// It may be called from any thread; one store never makes two calls for the same key at once. The calls may block.
public protocol SecureDataStore: Sendable {
    /// Stores data under a key and replaces the previous data; a reader finds either the old or the new data.
    /// - Returns: whether the data will still exist after a restart.
    func save(data: Data, forKey key: String) -> Bool
    /// The data stored under a key; nil if none is stored.
    func loadData(forKey key: String) -> Data?
    /// Deletes the data stored under a key.
    func removeData(forKey key: String)
}

/// A data store that reports why data could not be read or stored.
public protocol ReportingDataStore: SecureDataStore {
    /// The data stored under a key; nil if none is stored.
    /// - Throws: if there is data that cannot be read.
    func load(forKey key: String) throws -> Data?
    /// Stores data under a key and replaces the previous data.
    /// - Throws: if it is not stored; the previous data stays.
    func replace(_ data: Data, forKey key: String) throws
}

extension ReportingDataStore {
    /// Stores data under a key; false if ``ReportingDataStore/replace(_:forKey:)`` throws.
    public func save(data: Data, forKey key: String) -> Bool {
        do {
            try replace(data, forKey: key)
            return true
        } catch {
            return false
        }
    }

    /// The data stored under a key; nil also if it cannot be read.
    public func loadData(forKey key: String) -> Data? { try? load(forKey: key) }
}

/// A data store that replaces data only if it has not been changed in the meantime, in this process or another.
///
/// Adopt it if several processes share a storage, such as an app and its extensions. In any case a store compares the
/// stored data with its own state before it saves. Without this protocol, data that another process saves between the
/// comparison and the saving is lost until that process saves again.
public protocol ComparingDataStore: SecureDataStore {
    /// Stores data under a key and replaces the data that was read there before, as one atomic step.
    /// - Parameters:
    ///   - old: the data that the caller read; nil for none.
    ///   - new: the data that replaces it.
    ///   - key: the key under which both are stored.
    /// - Returns: false if something other than `old` is stored; nothing has changed then.
    /// - Throws: if the existing data cannot be read, or `new` is not stored; nothing has changed then either.
    func replace(_ old: Data?, with new: Data, forKey key: String) throws -> Bool
}

/// Keeps data as long as the process lives: for tests, and for processes that may not write anything.
public final class InMemoryDataStore: ComparingDataStore {
    private struct State {
        var values: [String: Data] = [:]
        /// A count of changes of all keys.
        var changes: UInt64 = 0
    }

    private let state = Lock(State())

    /// Makes an empty data store.
    public init() {}

    /// Stores data under a key; always true.
    public func save(data: Data, forKey key: String) -> Bool {
        // The old data may have the application's own deallocator, so it is released outside the lock.
        _ = state.withLock { state in
            state.changes &+= 1
            return state.values.updateValue(data, forKey: key)
        }
        return true
    }

    /// Stores data under a key if `old` is stored there; it never throws.
    public func replace(_ old: Data?, with new: Data, forKey key: String) -> Bool {
        while true {
            let (kept, changes) = state.withLock { ($0.values[key], $0.changes) }
            // Documents are long, so they are compared outside the lock.
            guard kept == old else { return false }
            let (isDone, _) = state.withLock { state -> (Bool, Data?) in
                guard state.changes == changes else { return (false, nil) }
                state.changes &+= 1
                return (true, state.values.updateValue(new, forKey: key))
            }
            if isDone { return true }
        }
    }

    /// The data stored under a key; nil if none is stored.
    public func loadData(forKey key: String) -> Data? { state.withLock { $0.values[key] } }

    /// Deletes the data stored under a key.
    public func removeData(forKey key: String) {
        _ = state.withLock { state in
            state.changes &+= 1
            return state.values.removeValue(forKey: key)
        }
    }
}

extension SecureDataStore {
    /// The data stored under a key; nil if none is stored, as far as this data store can determine.
    /// - Throws: if there is data that cannot be read, and the data store reports this.
    func reported(forKey key: String) throws -> Data? {
        guard let reporting = self as? any ReportingDataStore else { return loadData(forKey: key) }
        return try reporting.load(forKey: key)
    }

    /// Stores data in place of the data that was read. A data store that compares by itself does so in one step. Any
    /// other data store is read again just before, so callers in one process take turns, see ``SharedStorage``.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: if the existing data cannot be read, or `new` is not stored.
    func replaceIfUnchanged(_ old: Data?, with new: Data, forKey key: String) throws -> Bool {
        if let comparing = self as? any ComparingDataStore { return try comparing.replace(old, with: new, forKey: key) }
        guard try reported(forKey: key) == old else { return false }
        if let reporting = self as? any ReportingDataStore {
            try reporting.replace(new, forKey: key)
        } else if !save(data: new, forKey: key) {
            throw StoreError(.notStored, expected: "a data store that saves", found: "one that refuses")
        }
        return true
    }
}
