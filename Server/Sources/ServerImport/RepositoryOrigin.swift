import Foundation
import HoldfastPublishing
import ServerModel

/// The repository of another publisher, read-only: in the folder of `holdfastctl repository`, which contains a folder
/// `public`, or in the folder that a web server serves.
struct RepositoryOrigin: TUFRepositoryStorage {
    private let folder: TUFRepositoryFolder
    private let isServed: Bool

    var name: String { folder.name }

    /// - Parameter url: the folder.
    init(_ url: URL) {
        folder = TUFRepositoryFolder(url)
        let inner = url.appending(path: String(RepositoryPath.served.dropLast()))
        isServed = !FileManager.default.fileExists(atPath: inner.path)
    }

    func data(at path: String, atMost limit: Int) throws -> Data? {
        guard isServed else { return try folder.data(at: path, atMost: limit) }
        guard path.utf8.starts(with: RepositoryPath.served.utf8) else { return nil }
        return try folder.data(at: String(path.dropFirst(RepositoryPath.served.count)), atMost: limit)
    }

    func names(in folder: String) -> [String] { [] }

    func replace(_ path: String, _ old: Data?, with new: Data?) -> Bool { false }
}
