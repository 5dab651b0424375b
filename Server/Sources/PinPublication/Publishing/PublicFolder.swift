package import Foundation
package import ServerFoundation

/// The folder that any web server serves. A file is replaced as a whole, under a lock, and never by an older version: a
/// server that was interrupted cannot undo the writes of its successor.
package struct PublicFolder: Sendable {
    /// The served folder.
    package let url: URL
    /// The notes about the version of each file; not served.
    private let versions: URL

    private static let limit = 16 << 20

    /// Describes a folder.
    /// - Parameters:
    ///   - url: the served folder.
    ///   - versions: the folder for notes about the version of each file.
    package init(_ url: URL, versions: URL) {
        self.url = url
        self.versions = versions
    }

    /// Writes a document.
    /// - Parameters:
    ///   - bytes: the document.
    ///   - path: the path, relative to the folder.
    ///   - version: its version.
    /// - Throws: ``ServerError`` `outOfTurn` if a newer version is there, `constraint` for another document with the same
    ///   version, `file`.
    package func write(_ bytes: [UInt8], at path: String, version: Int64) throws(ServerError) {
        try replacing(path, version, Digest(of: bytes)) { file throws(ServerError) in
            try makeFolder(url, 0o755)
            // A web server of another user must be able to enter each folder.
            var folder = url
            for component in path.split(separator: "/").dropLast() {
                folder.append(path: component)
                try makeFolder(folder, 0o755)
            }
            try WholeFile.replace(file, with: bytes, mode: 0o644)
        }
    }

    /// Removes a document. An interrupted uploader cannot put it back.
    /// - Throws: as ``write(_:at:version:)``.
    package func remove(_ path: String, version: Int64) throws(ServerError) {
        try replacing(path, version, .nothing) { file throws(ServerError) in try WholeFile.remove(file) }
    }

    private func replacing(
        _ path: String, _ version: Int64, _ digest: Digest, _ body: (URL) throws(ServerError) -> Void
    ) throws(ServerError) {
        try makeFolder(versions, 0o700)
        let lock = try FolderLock.waiting(for: versions.appending(path: ".lock"))
        defer { withExtendedLifetime(lock) {} }
        let note = note(of: path)
        let line = Array("\(version) \(digest)\n".utf8)
        if let known = try WholeFile.read(note, limit: 256) {
            let number = Self.version(in: known)
            guard number <= version else {
                throw ServerError(
                    .outOfTurn, of: path, expected: "a version after \(number)", found: "\(version)",
                    remedy: "A newer document is in its place already.")
            }
            guard number < version || known == line else {
                throw ServerError(
                    .constraint, of: path, expected: "version \(version) as it was written", found: "another document",
                    remedy: "Two servers have written to this folder; stop one of them.")
            }
        }
        let file = url.appending(path: path)
        try requireNoLinks(to: path)
        // Note the version first: after a crash, the same version is written again, and no older one.
        try WholeFile.replace(note, with: line)
        try body(file)
    }

    /// A user who may write to the served folder must not lead the server to other folders.
    private func requireNoLinks(to path: String) throws(ServerError) {
        var folder = url
        for component in path.split(separator: "/").dropLast() {
            folder.append(path: component)
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path)
            guard target == nil else {
                throw ServerError(
                    .file, of: folder.path, expected: "a folder", found: "a link to another place",
                    remedy: "Find out who made it, and remove it.")
            }
        }
    }

    private func note(of path: String) -> URL { versions.appending(path: "\(Digest(of: path.utf8))") }

    private static func version(in note: [UInt8]) -> Int64 { LineReader.number(note.prefix { $0 != 0x20 }) ?? 0 }

    /// The newest version that was ever written; nil if it is not noted.
    /// - Throws: ``ServerError`` `file`.
    package func version(of path: String) throws(ServerError) -> Int64? {
        try WholeFile.read(note(of: path), limit: 256).map(Self.version)
    }

    /// The paths of all files, sorted.
    package func paths() -> [String] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        guard
            let files = FileManager.default.enumerator(
                at: url, includingPropertiesForKeys: keys, options: .skipsHiddenFiles)
        else { return [] }
        let root = url.standardizedFileURL.pathComponents.count
        var paths: [String] = []
        for case let file as URL in files
        where (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true {
            paths.append(file.standardizedFileURL.pathComponents.dropFirst(root).joined(separator: "/"))
        }
        return paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The content of a file; nil if it does not exist.
    /// - Throws: ``ServerError`` `file`.
    package func read(_ path: String) throws(ServerError) -> [UInt8]? {
        try WholeFile.read(url.appending(path: path), limit: Self.limit)
    }

    private func makeFolder(_ folder: URL, _ mode: Int) throws(ServerError) {
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
        } catch {
            throw ServerError(
                .file, of: folder.path, expected: "a folder that can be made", found: "\((error as NSError).code)")
        }
    }
}
