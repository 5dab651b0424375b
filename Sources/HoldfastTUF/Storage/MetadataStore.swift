public import Foundation

/// The name under which a file of metadata is kept: ASCII, a relative path that is safe for any file system.
public struct StoredMetadataName: Sendable, Hashable {
    /// For example `root.json`, or `root_history/2.root.json`.
    public let path: String

    init(_ role: RoleName) { path = role.localFile }

    /// A version of root that lies between the one an application came with and the newest.
    init(rootVersion version: Int64) { path = "root_history/\(version).root.json" }
}

/// Where a ``TUFClient`` keeps trusted metadata, as it was served. What is there is verified anew whenever it is used.
///
/// Called from any thread. ``MetadataFolder`` keeps files, ``MetadataMemory`` nothing beyond the process.
public protocol MetadataStore: Sendable {
    /// What is kept under a name; nil where there is nothing, or more than the limit.
    /// - Throws: any error where it cannot be found out.
    func data(of name: StoredMetadataName, atMost limit: Int) throws -> Data?

    /// Replaces what is kept as a whole: a process that is killed meanwhile leaves the old or the new.
    /// - Parameters:
    ///   - name: of the file.
    ///   - old: what ``data(of:atMost:)`` said; where that is no longer true nothing is replaced.
    ///   - new: nil to remove it.
    ///   - limit: as for ``data(of:atMost:)``.
    /// - Returns: false where something else than `old` is there.
    /// - Throws: any error where it is not on the disk afterwards.
    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) throws -> Bool
}
