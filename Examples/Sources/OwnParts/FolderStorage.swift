import Foundation
import Holdfast

/// A storage: one file for each key. A store verifies again what it loads, so the files need no protection of their own.
public struct FolderStorage: SecureDataStore {
    private let folder: URL

    /// - Parameter folder: it exists, and the service may write in it.
    public init(_ folder: URL) { self.folder = folder }

    /// In hexadecimal, because a key may hold characters that are not fit for a file's name.
    private func file(_ key: String) -> URL {
        folder.appending(path: key.utf8.map { String($0, radix: 16) }.joined(separator: "-"))
    }

    /// Writes the whole file or nothing.
    public func save(data: Data, forKey key: String) -> Bool {
        do {
            try data.write(to: file(key), options: .atomic)
            return true
        } catch {
            return false
        }
    }

    /// nil where there is no file.
    public func loadData(forKey key: String) -> Data? { try? Data(contentsOf: file(key)) }

    /// Removes the file.
    public func removeData(forKey key: String) { try? FileManager.default.removeItem(at: file(key)) }
}
