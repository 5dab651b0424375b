public import Foundation

/// The storage for published files and for the publisher's own records: files with relative paths.
///
/// All publishing code uses this protocol. ``TUFRepositoryFolder`` stores files. If you store them elsewhere, for
/// example in a database, test your storage with ``PublicationStorageConformance``.
public protocol PublicationStorage: Sendable {
    /// The name of the storage in messages, such as the path of a folder.
    var name: String { get }

    /// The content of a file; nil if it does not exist.
    /// - Parameters:
    ///   - path: the path, with slashes, such as `public/metadata/timestamp.json`.
    ///   - limit: the maximum number of bytes.
    /// - Throws: any error if the file cannot be read, or is longer than the limit.
    func data(at path: String, atMost limit: Int) async throws -> Data?

    /// The names of the files directly in a folder, such as `public/metadata`, in any order; empty if the folder does
    /// not exist. A file whose writing was interrupted is not included.
    /// - Throws: any error if the storage cannot find out.
    func names(in folder: String) async throws -> [String]

    /// Replaces a file as a whole, if its content is what the caller expects. The comparison and the write are atomic:
    /// of two callers with the same `old`, only one succeeds.
    ///
    /// Once this returns, the new content survives a crash. A reader that sees it also sees every file that was written
    /// before it.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - old: the expected content; nil if the file should not exist.
    ///   - new: the new content; nil to remove the file.
    /// - Returns: false if the content is not `old`, in which case nothing was changed.
    /// - Throws: any error if the file was not replaced.
    func replace(_ path: String, _ old: Data?, with new: Data?) async throws -> Bool
}
