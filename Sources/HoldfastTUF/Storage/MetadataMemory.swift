public import Foundation
import Holdfast

/// Keeps metadata in memory while the process runs. Copies of a value share their storage.
public struct MetadataMemory: MetadataStore {
    private let files = Lock<[StoredMetadataName: Data]>([:])

    /// Makes an empty store.
    public init() {}

    /// The content that is stored under a name; nil if it is missing, or larger than the limit.
    public func data(of name: StoredMetadataName, atMost limit: Int) -> Data? {
        files.withLock { $0[name] }.flatMap { $0.count <= limit ? $0 : nil }
    }

    /// Replaces the stored content, unless another update has changed it in the meantime.
    /// - Returns: false if something other than `old` is stored.
    public func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) -> Bool {
        files.withLock { files in
            guard files[name].flatMap({ $0.count <= limit ? $0 : nil }) == old else { return false }
            files[name] = new
            return true
        }
    }
}
