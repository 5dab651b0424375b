import Foundation

/// Finds the files that other users can write although the server relies on them: its folder, the files in it, and its
/// secret.
package struct FolderPermissions: Sendable {
    /// A file that other users can write.
    package struct Finding: Sendable, Hashable {
        /// Whether all users of the machine can write it, not only a group.
        package let isOpenToAll: Bool
        /// The description, and what to do.
        package let words: String
    }

    private let folder: URL
    private let secret: URL?

    /// Maximum number of checked entries; a server's folder has fewer.
    private static let maximumCount = 256

    /// - Parameters:
    ///   - folder: the folder of the server.
    ///   - secret: the file of its secret; nil for none.
    init(of folder: URL, secret: URL?) {
        (self.folder, self.secret) = (folder, secret)
    }

    /// The files that other users can write. A user who can write to a folder can replace the files in it.
    package var findings: [Finding] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let entries = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(Self.maximumCount)
        var urls = [folder] + entries.map { folder.appending(path: $0) }
        if let secret { urls += [secret.deletingLastPathComponent(), secret] }
        return urls.compactMap(Self.finding)
    }

    private static func finding(_ url: URL) -> Finding? {
        var status = stat()
        guard unsafe stat(url.path, &status) == 0 else { return nil }
        // In a folder with the sticky bit, such as /tmp, users cannot replace the files of others.
        let isShared = status.st_mode & 0o170000 == 0o040000 && status.st_mode & 0o1000 != 0
        let isOpenToAll = status.st_mode & 0o002 != 0
        guard !isShared, isOpenToAll || status.st_mode & 0o020 != 0 else { return nil }
        let who = isOpenToAll ? "every user of this machine" : "its group"
        let (text, path) = (String(status.st_mode & 0o777, radix: 8), url.path)
        return Finding(
            isOpenToAll: isOpenToAll,
            words: "\(path): \(who) can write it (mode 0\(text)): run chmod \(isOpenToAll ? "go" : "g")-w \(path)")
    }
}
