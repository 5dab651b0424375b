import Foundation
import Holdfast
import HoldfastPublishing

/// Keeps a repository in memory. It can be made to fail before any write.
final class MemoryStorage: TUFRepositoryStorage {
    struct TooLong: Error {}
    struct Killed: Error {}

    private let files: Lock<[String: Data]>
    private let writes = Lock((done: 0, limit: Int.max))

    init(_ files: [String: Data] = [:]) { self.files = Lock(files) }

    var name: String { "memory" }

    /// A copy of what is there.
    var copy: MemoryStorage { MemoryStorage(files.withLock { $0 }) }

    /// How many writes were made.
    var count: Int { writes.withLock { $0.done } }

    /// Lets only so many more writes happen, as if the process were killed then; nil for all.
    func allow(_ number: Int?) { writes.withLock { $0 = (0, number ?? .max) } }

    func data(at path: String, atMost limit: Int) throws -> Data? {
        let data = files.withLock { $0[path] }
        if let data, data.count > limit { throw TooLong() }
        return data
    }

    func names(in folder: String) -> [String] {
        files.withLock { $0.keys.filter { ($0 as NSString).deletingLastPathComponent == folder } }
            .map { ($0 as NSString).lastPathComponent }
    }

    func replace(_ path: String, _ old: Data?, with new: Data?) throws -> Bool {
        let isAllowed = writes.withLock { writes in
            writes.done += 1
            return writes.done <= writes.limit
        }
        guard isAllowed else { throw Killed() }
        return files.withLock { files in
            guard files[path] == old else { return false }
            files[path] = new
            return true
        }
    }
}
