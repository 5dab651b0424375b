import Foundation

/// What symbolic links lead to, whether it is there or not: a file is replaced there, and the link stays.
enum LinkedFile {
    /// As many as the kernel follows.
    private static let maximumLinks = 40

    /// - Throws: where links lead in a circle.
    static func target(of path: String) throws(CommandFailure) -> URL {
        var file = URL(fileURLWithPath: path)
        for _ in 0..<maximumLinks {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: file.path) else {
                return file.deletingLastPathComponent().resolvingSymlinksInPath().appending(
                    path: file.lastPathComponent)
            }
            file = URL(fileURLWithPath: next, relativeTo: file.deletingLastPathComponent()).absoluteURL
        }
        throw CommandFailure(.unwritableFile, "\(path) cannot be written: its links lead in a circle")
    }
}
