import Dispatch
import Foundation

/// One key of a storage, shared by all stores of this process that keep their document there. They take turns, and each
/// is notified at once when another has stored a document, so all have the same content.
///
/// If an application repeatedly makes stores over the same storage, they share it; it ends with the last of them.
final class SharedStorage: Sendable {
    /// A store that keeps its document there.
    protocol Member: AnyObject, Sendable {
        /// Stores with the same origin have the same documents.
        var origin: [UInt8] { get }
        /// Adopts the document that another store has stored. Runs on the storage's queue.
        /// - Returns: a closure that reports it, to be called outside queue and lock.
        func catchUp() -> [Announcement]
        /// Removes content whose document another store has removed. Runs on the storage's queue.
        func forget() -> [Announcement]
    }

    typealias Announcement = @Sendable () -> Void

    /// Equal for the same storage and key. All values of an unknown type are treated as the same storage: their stores
    /// take turns and read their own storage once more, without finding a change.
    private struct Key: Hashable, Sendable {
        let type: Swift.ObjectIdentifier
        let object: Swift.ObjectIdentifier?
        let folder: String
        let key: String

        init(_ dataStore: any SecureDataStore, _ key: String) {
            let kind = Swift.type(of: dataStore)
            type = Swift.ObjectIdentifier(kind)
            object = kind is AnyClass ? Swift.ObjectIdentifier(dataStore as AnyObject) : nil
            folder = (dataStore as? FileDataStore)?.folder.standardizedFileURL.resolvingSymlinksInPath().path ?? ""
            self.key = key
        }
    }

    private struct Reference: Sendable {
        weak var storage: SharedStorage?
    }

    private struct MemberReference: Sendable {
        weak var member: (any Member)?
    }

    private struct State {
        var members: [MemberReference] = []
        var changes: UInt64 = 0
        /// The number of members beyond which released ones are removed.
        var roomForMembers = 8
    }

    private static let storages = Lock<[Key: Reference]>([:])

    /// Storage blocks, so it has its own thread.
    let queue = DispatchQueue(label: "holdfast.store")
    private let key: Key
    private let state = Lock(State())

    private init(_ key: Key) { self.key = key }

    deinit {
        let key = key
        // A new storage may have replaced this one in the meantime; its reference is released here, outside the lock.
        let successor = Self.storages.withLock { storages -> SharedStorage? in
            guard let storage = storages[key]?.storage else {
                storages[key] = nil
                return nil
            }
            return storage
        }
        withExtendedLifetime(successor) {}
    }

    /// The shared object for a storage and a key.
    static func of(_ dataStore: any SecureDataStore, key: String) -> SharedStorage {
        let key = Key(dataStore, key)
        return storages.withLock { storages in
            if let storage = storages[key]?.storage { return storage }
            let storage = SharedStorage(key)
            storages[key] = Reference(storage: storage)
            return storage
        }
    }

    /// The number of times that members have stored or removed something.
    var changes: UInt64 { state.withLock { $0.changes } }

    func join(_ member: any Member) {
        // This may hold the last reference to a member, which is released outside the lock.
        let living = state.withLock { state -> [any Member] in
            var living: [any Member] = []
            if state.members.count >= state.roomForMembers {
                living = state.members.compactMap(\.member)
                state.members = living.map { MemberReference(member: $0) }
                state.roomForMembers = 2 * living.count + 8
            }
            state.members.append(MemberReference(member: member))
            return living
        }
        withExtendedLifetime(living) {}
    }

    /// Notes that a member has stored or removed something. Runs on the queue.
    /// - Returns: the other members.
    func noteChange(by member: any Member) -> [any Member] {
        state.withLock { state in
            state.changes &+= 1
            return state.members.compactMap(\.member).filter { $0 !== member }
        }
    }
}
