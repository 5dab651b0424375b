import Foundation

/// What symbolic links lead to, whether it is there or not: a file is replaced there, and the link stays.
enum LinkedFile {
    /// As many as the kernel follows.
    private static let maximumLinks = 40

    /// - Throws: where links lead in a circle.
    static func target(of path: String) throws(CommandFailure) -> URL {
        var file = path
        for _ in 0..<maximumLinks {
            let folder = folder(of: file)
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: file) else {
                return URL(fileURLWithPath: resolved(folder)).appending(path: (file as NSString).lastPathComponent)
            }
            // As text: a `..` goes up from where the kernel is then, which after a link is not what stands before it.
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
