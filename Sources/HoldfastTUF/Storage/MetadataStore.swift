public import Foundation

/// The name under which a metadata file is kept: a relative path in ASCII that is safe in any file system.
public struct StoredMetadataName: Sendable, Hashable {
    /// For example `root.json`, or `root_history/2.root.json`.
    public let path: String

    init(_ role: RoleName) { path = role.localFile }

    /// A version of root between the one that an application shipped with and the newest.
    init(rootVersion version: Int64) { path = "root_history/\(version).root.json" }
}

/// Where a ``TUFClient`` keeps trusted metadata, octet for octet as it was served. The client verifies it again
/// whenever it is used.
///
/// Methods are called from any thread. ``MetadataFolder`` keeps files; ``MetadataMemory`` keeps nothing after the
/// process ends.
public protocol MetadataStore: Sendable {
    /// What is stored under a name; nil if there is nothing, or more than the limit.
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - limit: the most bytes that are accepted.
    /// - Throws: any error if the store could not find out.
    func data(of name: StoredMetadataName, atMost limit: Int) throws -> Data?

    /// Replaces the stored file as a whole: if the process is killed in the middle, either the old or the new file
    /// remains.
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - old: what ``data(of:atMost:)`` returned. If the stored file has changed since, nothing is replaced.
    ///   - new: the new content; nil to remove the file.
    ///   - limit: as for ``data(of:atMost:)``.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: any error if the new content has not reached the disk.
    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) throws -> Bool
}
