public import Foundation

/// Who else can write what a server relies on: its folder, what lies in it, and its secret.
public struct FolderPermissions: Sendable {
    /// Something that others can write.
    public struct Finding: Sendable, Hashable {
        /// Whether everybody on the machine can, and not only a group.
        public let isOpenToAll: Bool
        /// What it is, and what to do, in words.
        public let words: String
    }

    private let folder: URL
    private let secret: URL?

    /// More entries than a folder of a server has.
    private static let maximumCount = 256

    /// - Parameters:
    ///   - folder: the folder of the server.
    ///   - secret: the file of its secret; nil for none.
    public init(of folder: URL, secret: URL?) {
        (self.folder, self.secret) = (folder, secret)
    }

    /// The files that other users can write. A user who can write to a folder can replace the files in it.
    public var findings: [Finding] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let entries = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(Self.maximumCount)
        var urls = [folder] + entries.map { folder.appending(path: $0) }
        if let secret { urls += [secret.deletingLastPathComponent(), secret] }
        return urls.compactMap(Self.finding)
    }

    private static func finding(_ url: URL) -> Finding? {
        var status = stat()
        guard unsafe stat(url.path, &status) == 0 else { return nil }
        // In a folder with the sticky bit, such as /tmp, nobody replaces what is another's.
        let isShared = status.st_mode & 0o170000 == 0o040000 && status.st_mode & 0o1000 != 0
        let isOpenToAll = status.st_mode & 0o002 != 0
        guard !isShared, isOpenToAll || status.st_mode & 0o020 != 0 else { return nil }
        let who = isOpenToAll ? "everybody on this machine" : "its group"
        let (text, path) = (String(status.st_mode & 0o777, radix: 8), url.path)
        return Finding(
            isOpenToAll: isOpenToAll,
            words: "\(path): \(who) can write it (mode 0\(text)): run chmod \(isOpenToAll ? "go" : "g")-w \(path)")
    }
}
