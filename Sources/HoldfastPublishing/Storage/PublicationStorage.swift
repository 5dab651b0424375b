public import Foundation

/// Where what is published is kept, with what its publisher has to remember: files with relative paths.
///
/// Everything that publishes works on this protocol. ``TUFRepositoryFolder`` keeps files. If you keep them elsewhere, for
/// example in a database, let ``PublicationStorageConformance`` check your storage.
public protocol PublicationStorage: Sendable {
    /// What the storage is called in messages, such as the path of a folder.
    var name: String { get }

    /// The content of a file; nil if there is none.
    /// - Parameters:
    ///   - path: the path, with slashes, such as `public/metadata/timestamp.json`.
    ///   - limit: the most bytes that the caller accepts.
    /// - Throws: any error if the file cannot be read, or is longer than the limit.
    func data(at path: String, atMost limit: Int) async throws -> Data?

    /// The names of the files directly in a folder, such as `public/metadata`, in any order; none if there is no such
    /// folder. A file whose writing was interrupted is not among them.
    /// - Throws: any error if the storage does not know.
    func names(in folder: String) async throws -> [String]

    /// Replaces a file as a whole, if it is what the caller believes it to be. The comparison and the write are one
    /// step: of two callers with the same `old` only one succeeds.
    ///
    /// The new content outlasts a crash as soon as this returns. Whoever finds it also finds every file that was written
    /// before it.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - old: what is there; nil if nothing is.
    ///   - new: what to write; nil to remove the file.
    /// - Returns: false if something other than `old` is there, in which case nothing was changed.
    /// - Throws: any error if the file was not replaced.
    func replace(_ path: String, _ old: Data?, with new: Data?) async throws -> Bool
}
