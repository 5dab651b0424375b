import Foundation
import Holdfast

@testable import HoldfastTUF

/// Serves a repository from a folder, to a process that has nothing else of it.
struct FolderSource: RepositorySource {
    let folder: URL

    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data? {
        try AtomicFile.readIfRegular(Self.url(of: file, in: folder), maximumBytes: limit)
    }

    static func write(_ repository: TestRepository, to folder: URL) throws {
        for (file, data) in repository.files {
            let url = url(of: file, in: folder)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url)
        }
    }

    /// The path is percent-encoded already.
    private static func url(of file: RepositoryFile, in folder: URL) -> URL {
        URL(filePath: folder.path + (file.kind == .metadata ? "/metadata/" : "/targets/") + file.path)
    }
}
