public import Foundation

/// Keeps data in the files of a folder, one for each key, readable only by their owner (mode 0600).
///
/// A file is replaced as a whole and is on the disk when saving returns: a process that is killed while it saves leaves
/// the old content or the new one. A lock file next to it allows one writer at a time, across processes. Several
/// threads and processes may use it: stores that share a folder never replace data that another one has saved in the
/// meantime.
public struct FileDataStore: ReportingDataStore, ComparingDataStore {
    /// The folder of the files.
    package let folder: URL
    /// The maximum number of bytes that are read from a file.
    package let maximumBytes: Int

    /// The default folder: on Apple's platforms `Holdfast` in the folder for the bundle's identifier inside the
    /// application support folder, elsewhere `holdfast` under `XDG_DATA_HOME` or `~/.local/share`.
    public static var defaultFolder: URL {
        #if canImport(Darwin)
        Platform.folderForData.appending(path: "Holdfast")
        #else
        DataFolder.holdfast()
        #endif
    }

    /// Makes a data store; nothing is read or written yet.
    /// - Parameters:
    ///   - folder: created at the first save, for its owner only.
    ///   - maximumBytes: the maximum number of bytes that are read from a file.
    public init(folder: URL = Self.defaultFolder, maximumBytes: Int = 64 << 20) {
        self.folder = folder
        // One more byte is requested, to notice that the file is longer.
        self.maximumBytes = max(0, min(maximumBytes, .max - 1))
    }

    /// The file of a key: its lower-case letters and digits, and everything else as the hexadecimal of its UTF-8 bytes,
    /// because some file systems ignore case.
    package func file(forKey key: String) -> URL { folder.appending(path: Self.name(of: key)) }

    /// The data stored under a key; nil if none is stored.
    /// - Throws: ``FileDataStoreError`` if the file exists but cannot be read.
    public func load(forKey key: String) throws -> Data? {
        let file = file(forKey: key)
        do {
            return try AtomicFile.read(file, maximumBytes: maximumBytes, isOwn: true)
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            // Existence is not checked before reading, because an inaccessible folder looks like one without the file.
            return nil
        } catch CocoaError.fileReadTooLarge {
            throw FileDataStoreError(
                .tooLarge, path: file.path, expected: "at most \(maximumBytes) bytes", found: "more")
        } catch {
            throw FileDataStoreError(
                .unreadable, path: file.path, expected: "a file that can be read",
                found: AtomicFile.reason(error, at: file.path))
        }
    }

    /// Stores data under a key and replaces the previous data; it waits for other writers.
    /// - Throws: ``FileDataStoreError``.
    public func replace(_ data: Data, forKey key: String) throws { _ = try replace(with: data, forKey: key) { true } }

    /// Atomically stores data under a key if `old` is stored there now; it waits for other writers.
    /// - Returns: false if something other than `old` is stored.
    /// - Throws: ``FileDataStoreError``, also if the existing data cannot be read.
    public func replace(_ old: Data?, with new: Data, forKey key: String) throws -> Bool {
        try replace(with: new, forKey: key) { try load(forKey: key) == old }
    }

    /// - Parameter isMeant: called with the lock held.
    private func replace(with data: Data, forKey key: String, if isMeant: () throws -> Bool) throws -> Bool {
        let file = file(forKey: key)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return try withLock(key) {
                guard try isMeant() else { return false }
                // Only one writer holds the lock, so the leftovers of a killed one are overwritten.
                try AtomicFile.replace(file, with: data, temporaryName: ".\(Self.name(of: key)).new")
                return true
            }
        } catch {
            throw FileDataStoreError(
                .notWritten, path: file.path, expected: "a file that can be replaced",
                found: (error as? FileDataStoreError)?.found ?? AtomicFile.reason(error, at: file.path))
        }
    }

    /// Deletes the data stored under a key.
    public func removeData(forKey key: String) {
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        try? withLock(key) { try? FileManager.default.removeItem(at: file(forKey: key)) }
    }

    private func withLock<Result>(_ key: String, _ body: () throws -> Result) throws -> Result {
        let file = folder.appending(path: ".\(Self.name(of: key)).lock")
        let lock: FileLock
        do throws(FileLock.Failure) {
            lock = try FileLock(file)
        } catch {
            throw FileDataStoreError(.notWritten, path: file.path, expected: "a lock", found: error.found)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private static func name(of key: String) -> String {
        var name = ""
        for octet in key.utf8 {
            if (0x61...0x7A).contains(octet) || (0x30...0x39).contains(octet) {
                name.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                name += "_" + Hexadecimal.encode([octet])
            }
        }
        // A file name has at most 255 bytes, so a key longer than 200 is hashed; no other name has two underscores.
        guard name.utf8.count <= 200 else {
            return "__\(Hexadecimal.encode(SHA256Digest.of(Array(key.utf8)))).pins"
        }
        return "\(name).pins"
    }
}
