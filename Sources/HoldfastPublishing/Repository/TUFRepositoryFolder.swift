public import Foundation
import Holdfast

/// The folder of a repository: `public`, which any web server can serve unchanged, and `draft`, which the keyholders
/// pass to each other.
///
/// `public` contains `bundle.json`, and the folders `metadata` and `targets` as every TUF client expects them.
/// `replaced.json` lists the files that were served before, for ``TUFRepositoryStorage/uploadPlan(at:)``. Several
/// processes may write to the folder: of two that publish at the same time, one succeeds.
public struct TUFRepositoryFolder: TUFRepositoryStorage {
    /// The folder.
    public let folder: URL

    /// A writer holds the lock for milliseconds; a process that holds it longer than this is stuck.
    private static let patience = Duration.seconds(10)

    /// Names a folder. This does not read or create anything.
    public init(_ folder: URL) { self.folder = folder }

    /// The folder that a web server serves.
    public var published: URL { folder.appending(path: "public") }

    /// The path of the folder.
    public var name: String { folder.path }

    /// Reads a file.
    /// - Throws: ``TUFRepositoryError`` `storage`, also for something that is not a regular file.
    public func data(at path: String, atMost limit: Int) throws(TUFRepositoryError) -> Data? {
        let file = folder.appending(path: path)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try AtomicFile.read(file, maximumBytes: limit, isOwn: true)
        } catch {
            throw TUFRepositoryError(
                .storage, of: file.lastPathComponent, expected: "a file of at most \(limit) bytes that can be read",
                found: AtomicFile.reason(error, at: file.path))
        }
    }

    /// The names of the files in a folder of the repository.
    public func names(in folder: String) -> [String] {
        let folder = self.folder.appending(path: folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        // A name with a period is a lock file or an unfinished file.
        return names.filter { name in
            var isFolder: ObjCBool = false
            let file = folder.appending(path: name)
            let isThere = unsafe FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            return isThere && !isFolder.boolValue && !name.utf8.starts(with: ".".utf8)
        }
    }

    /// Replaces a file and makes it readable for all users: it contains no secret, and the web server runs as another
    /// user.
    /// - Throws: ``TUFRepositoryError`` `storage`.
    public func replace(_ path: String, _ old: Data?, with new: Data?) throws(TUFRepositoryError) -> Bool {
        let file = folder.appending(path: path)
        do {
            try makeFolders(of: file)
            let lock = try FileLock(folder.appending(path: ".lock"), limit: Self.patience)
            defer { withExtendedLifetime(lock) {} }
            guard try isThere(old, at: file) else { return false }
            if let new {
                try AtomicFile.replace(
                    file, with: new, temporaryName: ".\(file.lastPathComponent).new", permissions: 0o644)
            } else if old != nil {
                try FileManager.default.removeItem(at: file)
            }
            return true
        } catch let error as FileLock.Failure {
            throw TUFRepositoryError(
                .storage, of: file.lastPathComponent, expected: "the lock \(folder.path)/.lock",
                found: error.found)
        } catch {
            throw TUFRepositoryError(
                .storage, of: file.lastPathComponent, expected: "a file that can be replaced",
                found: AtomicFile.reason(error, at: file.path))
        }
    }

    private func isThere(_ old: Data?, at file: URL) throws -> Bool {
        guard FileManager.default.fileExists(atPath: file.path) else { return old == nil }
        guard let old else { return false }
        do {
            return try AtomicFile.read(file, maximumBytes: old.count, isOwn: true) == old
        } catch CocoaError.fileReadTooLarge {
            return false
        }
    }

    private func makeFolders(of file: URL) throws {
        let parent = file.deletingLastPathComponent()
        let isServed = parent.path.utf8.starts(with: published.path.utf8)
        for folder in isServed ? [published, parent] : [parent] {
            guard !FileManager.default.fileExists(atPath: folder.path) else { continue }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // Regardless of the umask: files are readable only if all users may enter their folder.
            guard isServed else { continue }
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        }
    }
}
