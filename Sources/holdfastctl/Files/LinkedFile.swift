import Foundation

/// Finds the file that symbolic links lead to, whether it exists or not. That file is replaced, and the links stay.
enum LinkedFile {
    /// Maximum number of links that are followed; the kernel has the same limit.
    private static let maximumLinks = 40

    /// - Throws: if the links form a loop.
    static func target(of path: String) throws(CommandFailure) -> URL {
        var file = path
        for _ in 0..<maximumLinks {
            let folder = folder(of: file)
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: file) else {
                return URL(fileURLWithPath: resolved(folder)).appending(path: (file as NSString).lastPathComponent)
            }
            // The path is joined as text: for the kernel, a `..` after a link goes up from the link's target, not from
            // the name before it.
            file = next.hasPrefix("/") ? next : "\(folder)/\(next)"
        }
        throw CommandFailure(.unwritableFile, "\(path) cannot be written: its links lead in a circle")
    }

    private static func folder(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    private static func resolved(_ folder: String) -> String {
        guard let path = unsafe realpath(folder, nil) else { return folder }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
