public import Foundation

/// The name under which a metadata file is kept: a relative path in ASCII that is safe in any file system.
public struct StoredMetadataName: Sendable, Hashable {
    /// For example `root.json`, or `root_history/2.root.json`.
    public let path: String

    init(_ role: RoleName) { path = role.localFile }

    /// A version of root between the one that an application shipped with and the newest.
    init(rootVersion version: Int64) { path = "root_history/\(version).root.json" }
}

/// The storage in which a ``TUFClient`` keeps trusted metadata, byte for byte as it was served. The client verifies the
/// metadata again whenever it uses it.
///
/// Methods are called from any thread. ``MetadataFolder`` keeps files; ``MetadataMemory`` keeps nothing after the
/// process ends.
public protocol MetadataStore: Sendable {
    /// The content that is stored under a name; nil if it is missing, or larger than the limit.
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - limit: the maximum number of bytes.
    /// - Throws: any error if the store could not find out.
    func data(of name: StoredMetadataName, atMost limit: Int) throws -> Data?

    /// Replaces the stored file as a whole: if the process is killed in the middle, either the old or the new file
    /// remains.
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - old: the content that ``data(of:atMost:)`` returned. If the stored file has changed since, nothing is
    ///     replaced.
    ///   - new: the new content; nil to remove the file.
    ///   - limit: as for ``data(of:atMost:)``.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: any error if the new content has not reached the disk.
    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) throws -> Bool
}
