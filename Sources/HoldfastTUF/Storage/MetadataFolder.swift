public import Foundation
package import Holdfast

/// Keeps metadata in files of a folder, readable only by their owner: `root.json`, `timestamp.json`, `snapshot.json`,
/// `targets.json`, and a file for each delegated role, named by the role's percent-encoded name.
///
/// A file is replaced as a whole, and has reached the disk when the call returns. Several processes may use one folder.
public struct MetadataFolder: MetadataStore {
    /// The folder of the files.
    public let folder: URL
    /// Writing takes milliseconds; a process that holds the lock longer than this is stuck.
    private static let patience = Duration.seconds(10)

    /// Makes a store. It does not read or write anything.
    /// - Parameter folder: the folder. It is created when something is first stored, with access for its owner only.
    public init(_ folder: URL) {
        self.folder = folder
    }

    /// The content that is stored under a name. Links are followed; anything other than a regular file is treated as
    /// missing.
    /// - Throws: an error if the file exists but cannot be read.
    public func data(of name: StoredMetadataName, atMost limit: Int) throws -> Data? {
        try AtomicFile.readIfRegular(folder.appending(path: name.path), maximumBytes: limit)
    }

    /// Replaces a file, unless another update has changed it in the meantime.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: an error if the new content has not reached the disk.
    public func replace(
        _ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int
    ) throws -> Bool {
        let file = folder.appending(path: name.path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let lock = try FileLock(folder.appending(path: ".tuf.lock"), limit: Self.patience)
        defer { withExtendedLifetime(lock) {} }
        guard try data(of: name, atMost: limit) == old else { return false }
        if let new {
            try AtomicFile.replace(file, with: new, temporaryName: ".tuf.new")
        } else if old != nil {
            try FileManager.default.removeItem(at: file)
        }
        return true
    }
}

extension AtomicFile {
    /// Reads a regular file of at most this many bytes; nil if the file is missing, not regular, or larger.
    package static func readIfRegular(_ url: URL, maximumBytes: Int) throws -> Data? {
        do {
            return try read(url, maximumBytes: maximumBytes, isOwn: true)
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileReadTooLarge, CocoaError.fileReadUnsupportedScheme {
            return nil
        }
    }
}
