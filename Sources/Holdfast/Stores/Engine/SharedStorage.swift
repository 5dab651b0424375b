import Dispatch
import Foundation

/// What a storage keeps under one key, for all stores of this process that keep their document there: they take turns,
/// and each learns at once what another has stored, so that there is one content for one storage.
///
/// Stores that an application makes again and again over the same storage share it; it ends with the last of them.
final class SharedStorage: Sendable {
    /// A store that keeps its document there.
    protocol Member: AnyObject, Sendable {
        /// Stores of one origin have the same documents.
        var origin: [UInt8] { get }
        /// Takes over what another has stored. On the storage's queue.
        /// - Returns: what is to be told of it, with no queue and no lock held.
        func catchUp() -> [Announcement]
        /// Forgets what another has removed. On the storage's queue.
        func forget() -> [Announcement]
    }

    typealias Announcement = @Sendable () -> Void

    /// Equal for the same storage and key. Values of a type that says nothing of itself are taken for the same storage:
    /// their stores take turns and look into their own storage once more, in which nothing has changed.
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
        /// How many members there may be until those that are gone are looked for.
        var roomForMembers = 8
    }

    private static let storages = Lock<[Key: Reference]>([:])

    /// Storage blocks: it has a thread of its own.
    let queue = DispatchQueue(label: "holdfast.store")
    private let key: Key
    private let state = Lock(State())

    private init(_ key: Key) { self.key = key }

    deinit {
        let key = key
        // Another may have taken its place meanwhile, and may end here: after the lock.
        let successor = Self.storages.withLock { storages -> SharedStorage? in
            guard let storage = storages[key]?.storage else {
                storages[key] = nil
                return nil
            }
            return storage
        }
        withExtendedLifetime(successor) {}
    }

    /// The one for a storage and a key.
    static func of(_ dataStore: any SecureDataStore, key: String) -> SharedStorage {
        let key = Key(dataStore, key)
        return storages.withLock { storages in
            if let storage = storages[key]?.storage { return storage }
            let storage = SharedStorage(key)
            storages[key] = Reference(storage: storage)
            return storage
        }
    }

    /// Counts what members have stored and removed.
    var changes: UInt64 { state.withLock { $0.changes } }

    func join(_ member: any Member) {
        // A member whose last reference is looked at here ends after the lock.
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

    /// Notes that a member has stored or removed something. On the queue.
    /// - Returns: the other members.
    func noteChange(by member: any Member) -> [any Member] {
        state.withLock { state in
            state.changes &+= 1
            return state.members.compactMap(\.member).filter { $0 !== member }
        }
    }
}
