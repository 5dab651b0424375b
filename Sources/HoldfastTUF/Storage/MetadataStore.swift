public import Foundation

/// The name under which a file of metadata is kept: ASCII, a relative path that is safe for any file system.
public struct StoredMetadataName: Sendable, Hashable {
    /// For example `root.json`, or `root_history/2.root.json`.
    public let path: String

    init(_ role: RoleName) { path = role.localFile }

    /// A version of root between the one that an application shipped with and the newest.
    init(rootVersion version: Int64) { path = "root_history/\(version).root.json" }
}

/// Where a ``TUFClient`` keeps trusted metadata, as it was served. What is stored is verified again whenever it is
/// used.
///
/// Called from any thread. ``MetadataFolder`` keeps files; ``MetadataMemory`` keeps nothing after the process ends.
public protocol MetadataStore: Sendable {
    /// What is stored under a name; nil if there is nothing, or more than the limit.
    /// - Throws: any error if this could not be determined.
    func data(of name: StoredMetadataName, atMost limit: Int) throws -> Data?

    /// Replaces the stored file as a whole: if the process is killed meanwhile, the old or the new file remains.
    /// - Parameters:
    ///   - name: of the file.
    ///   - old: what ``data(of:atMost:)`` returned; if that has changed since, nothing is replaced.
    ///   - new: nil to remove it.
    ///   - limit: as for ``data(of:atMost:)``.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: any error if the new content is not on the disk afterwards.
    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) throws -> Bool
}
